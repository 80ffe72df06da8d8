// SPDX-License-Identifier: Apache-2.0
// Internal to store: records to and from the columns of a row.
#pragma once

#include "tuner/store/records.hpp"

#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Statement.h>

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tuner::store {

void bind_value(SQLite::Statement& statement, int index, std::string_view value);
void bind_value(SQLite::Statement& statement, int index, double value);
void bind_value(SQLite::Statement& statement, int index, std::nullopt_t);
/// Unsigned 64-bit numbers are kept as the signed number with the same bits.
void bind_value(SQLite::Statement& statement, int index, std::integral auto value) {
  statement.bind(index, static_cast<std::int64_t>(value));
}
template <class T>
void bind_value(SQLite::Statement& statement, int index, const std::optional<T>& value) {
  value ? bind_value(statement, index, *value) : bind_value(statement, index, std::nullopt);
}

/// A statement with its parameters bound from left to right.
template <class... Values>
SQLite::Statement prepare(const SQLite::Database& database, const std::string& sql,
                          const Values&... values) {
  SQLite::Statement statement(database, sql);
  if constexpr (sizeof...(values) > 0) {
    int index = 0;
    (bind_value(statement, ++index, values), ...);
  }
  return statement;
}

/// Reads the columns of a statement's current row from left to right.
class RowReader {
 public:
  explicit RowReader(SQLite::Statement& statement) : statement_(statement) {}

  [[nodiscard]] std::string text() { return next().getString(); }
  [[nodiscard]] double real() { return next().getDouble(); }
  [[nodiscard]] int number() { return next().getInt(); }
  [[nodiscard]] std::int64_t integer() { return next().getInt64(); }
  [[nodiscard]] std::uint64_t count() { return static_cast<std::uint64_t>(integer()); }
  [[nodiscard]] bool flag() { return integer() != 0; }
  [[nodiscard]] std::optional<double> optional_real();

 private:
  SQLite::Column next() { return statement_.getColumn(next_++); }

  SQLite::Statement& statement_;
  int next_ = 0;
};

/// The columns of table `device` that describe it, in the order that DeviceInfo is read and bound,
/// each behind `prefix`.
[[nodiscard]] std::string device_columns(std::string_view prefix);
[[nodiscard]] space::DeviceInfo read_device(RowReader& row);

/// Columns median_ns, q1_ns, q3_ns, min_ns, samples.
[[nodiscard]] std::optional<TimeSummary> read_optional_time(RowReader& row);
[[nodiscard]] TimeSummary read_time(RowReader& row);

/// Whether the best `b` of a query was chosen by a final round. Earlier versions stored one by
/// screening times where a run was interrupted; an imported one has its final round elsewhere.
inline constexpr std::string_view kIsConfirmed =
    "(EXISTS (SELECT 1 FROM main.session s WHERE s.id = b.session_id AND s.state = 'imported') "
    "OR EXISTS (SELECT 1 FROM main.final fi JOIN main.finalist f ON f.final_id = fi.id "
    "WHERE fi.session_id = b.session_id AND fi.problem_id = b.problem_id))";

/// A JSON array of numbers that read back as the very same, e.g. "[1520.5,1498]".
[[nodiscard]] std::string samples_to_json(const std::vector<double>& samples_ns);
[[nodiscard]] std::vector<double> samples_from_json(std::string_view json);

}  // namespace tuner::store
