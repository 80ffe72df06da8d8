// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/core/outcome.hpp"
#include "tuner/verify/problem_data.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tuner::verify {

class RecordChecker;

/// What an inspection of an instance's memory found, and the words for it. Refers to what it is
/// made from.
class CheckReport {
 public:
  struct Subject {
    backend::Backend& backend;
    CheckKernels& kernels;
    const ProblemData& problem;
    const CheckedMemory& memory;
    const RecordChecker& records;
    std::span<const PartReport> intact;  ///< what an inspection found before any candidate ran
    Poison poison;                       ///< of the last launch
    bool is_equality;                    ///< results must equal the reference
    double largest_mean;  ///< that the root mean square of the errors may be, as a share of their
                          ///< bounds
  };
  CheckReport(const Subject& subject, std::vector<PartReport> reports)
      : subject_(subject), reports_(std::move(reports)) {}

  /// The failure, the most serious first: out_of_bounds when a guard zone, an input or the
  /// reference changed, then wrong_result, then nondeterministic.
  [[nodiscard]] std::optional<Failure> failure() const;
  /// Whether memory changed that is passed to no candidate: an earlier candidate may be the cause.
  [[nodiscard]] bool reference_changed() const;
  /// The largest error as a share of its bound.
  [[nodiscard]] double worst_share() const;

 private:
  [[nodiscard]] Failure guard_failure(std::size_t part) const;
  [[nodiscard]] Failure input_failure(std::size_t part) const;
  [[nodiscard]] Failure result_failure(std::size_t part) const;
  /// A wrong result whose records may be in any order; none where an element in place is wrong.
  [[nodiscard]] std::optional<Failure> record_failure(std::size_t part) const;
  /// ", 812 times the allowed error away", or that the result must be equal.
  [[nodiscard]] std::string distance(const CheckKernels::Element& element,
                                     family::ElementType type) const;
  [[nodiscard]] Failure repeat_failure(std::size_t part) const;
  /// The root mean square of an output's errors as a share of their bounds.
  [[nodiscard]] double mean_share(std::size_t part) const;
  [[nodiscard]] double largest_mean(std::size_t part) const;
  [[nodiscard]] Failure mean_failure(std::size_t part) const;
  /// Whether a wrong result is a few units in the last place away, as by roundings in between.
  [[nodiscard]] bool is_rounded_apart(const CheckKernels::Element& element,
                                      family::ElementType type) const;
  /// What to write in the space file where results of a type are rounded more often on purpose.
  [[nodiscard]] std::string rounding_remedy(family::ElementType type) const;
  /// What to write where a result depends on the order of equal inputs; empty where none are meant
  /// to be equal.
  [[nodiscard]] std::string order_remedy(family::ElementType type) const;
  [[nodiscard]] Failure failure_of(Outcome outcome, std::string text,
                                   std::optional<WrongElement> element = {}) const;
  [[nodiscard]] WrongElement wrong_element(const CheckedData& data, std::uint64_t index,
                                           const CheckKernels::Element& element) const;
  [[nodiscard]] const CheckedData& data_at(const CheckPart& part) const;
  [[nodiscard]] bool changed(std::size_t part) const;

  Subject subject_;
  std::vector<PartReport> reports_;
};

}  // namespace tuner::verify
