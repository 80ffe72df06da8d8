// SPDX-License-Identifier: Apache-2.0
// Records of outputs whose order is free, on the host: sorted, compared and named.
#pragma once

#include "tuner/family/family.hpp"
#include "tuner/verify/check_parts.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tuner::verify {

/// The elements of an output.
struct RecordColumn {
  std::string name;
  family::ElementType type;
  std::size_t elements = 1;           ///< of a record
  std::vector<std::byte> bytes = {};  ///< at least those of all records

  [[nodiscard]] std::uint64_t bits(std::size_t element) const;
};

/// Outputs whose records are permuted alike: a record has elements in each.
struct RecordTable {
  std::vector<RecordColumn> columns;
  std::size_t records = 0;
};

/// Sorts the records of each row, of `rows` the row of each record: by integers before
/// floating-point numbers, NaN last, equal numbers by their bits. Ignored records become 0. Gives
/// for each place that from which its record came.
std::vector<std::uint32_t> sort_records(RecordTable& table, std::span<const std::uint32_t> rows);

enum class RecordEquality {
  of_numbers,  ///< −0 equals 0, NaN equals NaN
  of_bits,
};

/// The first record, in their order, of which a row of a table has fewer than expected.
struct RecordDifference {
  std::string record;  ///< its record_text
  std::uint32_t row = 0;
  std::uint64_t expected = 0, found = 0;  ///< how many of it there are
  std::uint64_t missing = 0;              ///< records of all rows that are expected and not found
  std::size_t first_surplus = 0;  ///< where in the other table the first is that is not expected
};

/// Of two sorted tables of the same records. `allowed` has the errors allowed of those expected, in
/// columns like theirs; columns without bytes allow none. Records with errors are counted singly.
[[nodiscard]] std::optional<RecordDifference> first_difference(
    const RecordTable& expected, const RecordTable& found, std::span<const std::uint32_t> rows,
    RecordEquality equality, const RecordTable* allowed = nullptr);

/// "value 5", "record (3, 0.5)".
[[nodiscard]] std::string record_text(const RecordTable& table, std::size_t record);

/// The shortest text that is this number of the type.
[[nodiscard]] std::string bits_text(family::ElementType type, std::uint64_t bits);

}  // namespace tuner::verify
