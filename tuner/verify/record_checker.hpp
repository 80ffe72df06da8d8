// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/verify/checked_memory.hpp"
#include "tuner/verify/problem_data.hpp"
#include "tuner/verify/records.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tuner::verify {

/// The outputs of an instance that are not compared in place: their records are sorted on the host
/// where a fingerprint of them differs from the reference's. All must outlive it.
class RecordChecker {
 public:
  RecordChecker(backend::Backend& backend, const ProblemData& problem, const CheckedMemory& memory);

  [[nodiscard]] bool is_empty() const { return groups_.empty(); }

  /// Results of a run, by their places among the arguments.
  using Results = std::span<const backend::Region>;
  /// Of what the reference wrote into the reference memory decides which records count and to which
  /// rows they belong, and sorts them. `second` is empty, or of another run, on outputs that held
  /// `unwritten` before. Throws Error(usage) where rows overlap or a record is written in part.
  void learn(Results second, std::uint32_t unwritten);
  /// Sorts the records of another run of the reference.
  void sort(Results results) const;
  /// Sorts those of outputs with bounds, of a run on other values. Gives the arguments of which it
  /// has other records than before, so that they tell nothing about rounding errors.
  [[nodiscard]] std::vector<std::size_t> sort_bounded(Results results) const;

  /// Whether fingerprints or elements in place differ.
  [[nodiscard]] bool differ(std::span<const PartReport> reports) const;
  /// What an inspection finds with a candidate's records sorted; they are left as they were.
  [[nodiscard]] std::vector<PartReport> inspect_sorted(CheckKernels& kernels,
                                                       const Poison& poison) const;

  /// "out: value 5 is expected 3 times, found 2 times; …": what is wrong with the records of an
  /// output; none where they are those expected, so that an element in place is wrong, or where
  /// most have larger errors than allowed.
  enum class Margins { none, allowed };
  [[nodiscard]] std::optional<std::string> difference(const CheckedData& data, Margins margins,
                                                      CheckKernels& kernels,
                                                      const Poison& poison) const;
  /// The element at this index of the sorted records; none where it is compared in place.
  [[nodiscard]] std::optional<CheckKernels::Element> sorted_element(const CheckedData& data,
                                                                    std::uint64_t index) const;
  /// "out has value 5 3 times in one launch and 2 times in another".
  [[nodiscard]] std::optional<std::string> repeat_difference(const CheckedData& data) const;

 private:
  /// Outputs whose records are permuted alike; the first one states the order.
  struct Group {
    std::vector<const CheckedData*> columns;
  };
  [[nodiscard]] const Group& group_of(const CheckedData& data) const;
  [[nodiscard]] RecordTable read(const Group& group, Results results) const;
  void write(const Group& group, const RecordTable& table, Results results) const;
  [[nodiscard]] std::vector<std::uint32_t> rows(const Group& group) const;
  [[nodiscard]] std::vector<std::int64_t> integers(const std::string& buffer) const;
  /// The first record of each row, and the number of all records.
  [[nodiscard]] std::vector<std::int64_t> row_starts(const CheckedData& data) const;
  [[nodiscard]] std::vector<std::uint32_t> make_rows(const Group& group,
                                                     const std::vector<bool>& left) const;
  /// Whether the reference left each record as it was.
  [[nodiscard]] std::vector<bool> left(const Group& group, const RecordTable& first,
                                       const RecordTable* second, std::uint32_t unwritten) const;
  /// None where all must be equal.
  [[nodiscard]] std::optional<RecordTable> errors_allowed(const Group& group) const;
  [[nodiscard]] bool is_alike(const Group& group, Results results) const;
  /// Where what is kept of each output lies in the reference memory.
  [[nodiscard]] std::vector<backend::Region> kept(
      std::optional<std::size_t> CheckedData::*place) const;
  /// "out", "row 3 of keys, values".
  [[nodiscard]] std::string place_text(const Group& group, std::uint32_t row) const;
  /// Whether an element of a candidate's still is the poison from before the launch.
  [[nodiscard]] bool is_untouched(const CheckedData& data, std::size_t index, CheckKernels& kernels,
                                  const Poison& poison) const;

  backend::Backend& backend_;
  const ProblemData& problem_;
  const CheckedMemory& memory_;
  std::vector<Group> groups_;
};

}  // namespace tuner::verify
