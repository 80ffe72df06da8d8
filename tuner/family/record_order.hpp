// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/space/expression.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace tuner::family {

/// A number of records: of the dimensions, or what an integer buffer holds.
struct RecordCount {
  space::Expression number = space::Expression::constant(0);
  std::string buffer;  ///< empty: `number`
};

/// That the records of an output may be in any order.
struct RecordOrder {
  space::Expression record = space::Expression::constant(1);  ///< consecutive elements of one
  /// Rows, which a record does not leave: so many records each, or beginning where a buffer says.
  std::optional<RecordCount> within;
  std::string as;  ///< the output to whose records these belong; empty: this one states the order
};

/// How an output divides into records at a size.
struct RecordLayout {
  std::int64_t elements = 1;  ///< of a record
  std::int64_t records = 0;
  bool any_order = false;
  std::int64_t row = 0;              ///< records in a row, the last may have fewer
  std::string offsets;               ///< the buffer with the first record of each row; or empty
  std::optional<RecordCount> valid;  ///< records of a row that count; the others are ignored
  std::int64_t valid_number = 0;     ///< its number, where that is in no buffer
  std::string as;                    ///< see RecordOrder
};

}  // namespace tuner::family
