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

/// A JSON array of numbers that read back as the very same, e.g. "[1520.5,1498]".
[[nodiscard]] std::string samples_to_json(const std::vector<double>& samples_ns);
[[nodiscard]] std::vector<double> samples_from_json(std::string_view json);

void bind_value(SQLite::Statement& statement, int index, std::string_view value);
void bind_value(SQLite::Statement& statement, int index, double value);
void bind_value(SQLite::Statement& statement, int index, std::nullopt_t);
void bind_value(SQLite::Statement& statement, int index, Outcome value);
void bind_value(SQLite::Statement& statement, int index, const std::vector<double>& samples);
/// A JSON object by the names of the counters; of the kinds of instructions.
void bind_value(SQLite::Statement& statement, int index, const counters::Counters& counters);
void bind_value(SQLite::Statement& statement, int index, const counters::InstructionMix& mix);
/// Unsigned 64-bit numbers are kept as the signed number with the same bits.
void bind_value(SQLite::Statement& statement, int index, std::integral auto value) {
  statement.bind(index, static_cast<std::int64_t>(value));
}
template <class T>
void bind_value(SQLite::Statement& statement, int index, const std::optional<T>& value) {
  value ? bind_value(statement, index, *value) : bind_value(statement, index, std::nullopt);
}

/// A record's columns, those of a record within it in its place, each behind `prefix`:
/// "r.outcome, r.message, r.median_ns".
template <Record T>
[[nodiscard]] std::string columns(std::string_view prefix = "") {
  std::string text;
  for_each_field<T>([&]<class F>(const F& field) {
    if (!text.empty()) text += ", ";
    if constexpr (kIsOptionalRecord<typename F::Type>) {
      text += columns<typename F::Type::value_type>(prefix);
    } else if constexpr (Record<typename F::Type>) {
      text += columns<typename F::Type>(prefix);
    } else {
      text.append(prefix).append(field.name);
    }
  });
  return text;
}

/// The parameters of a statement for as many columns: "?, ?, ?".
template <Record T>
[[nodiscard]] std::string parameters() {
  const std::string names = columns<T>();
  std::string text = "?";
  for (const char character : names) {
    if (character == ',') text += ", ?";
  }
  return text;
}

/// Binds a value, a record field by field, to the parameters behind `index` and advances it.
template <class T>
void bind_next(SQLite::Statement& statement, int& index, const T& value) {
  if constexpr (Record<T>) {
    for_each_field<T>([&](const auto& field) { bind_next(statement, index, value.*field.member); });
  } else if constexpr (kIsOptionalRecord<T>) {
    if (value) return bind_next(statement, index, *value);
    for_each_field<typename T::value_type>(
        [&](const auto&) { bind_value(statement, ++index, std::nullopt); });
  } else {
    bind_value(statement, ++index, value);
  }
}

/// A statement with its parameters bound from left to right.
template <class... Values>
SQLite::Statement prepare(const SQLite::Database& database, const std::string& sql,
                          const Values&... values) {
  SQLite::Statement statement(database, sql);
  if constexpr (sizeof...(values) > 0) {
    int index = 0;
    (bind_next(statement, index, values), ...);
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

  /// Into a field. An optional record is absent where its first column is NULL.
  void read(std::string& value) { value = text(); }
  void read(double& value) { value = real(); }
  void read(int& value) { value = number(); }
  void read(std::int64_t& value) { value = integer(); }
  void read(std::uint64_t& value) { value = count(); }
  void read(bool& value) { value = flag(); }
  void read(std::optional<double>& value) { value = optional_real(); }
  void read(Outcome& value);
  void read(std::vector<double>& samples) { samples = samples_from_json(text()); }
  void read(std::optional<counters::Counters>& counters);
  void read(std::optional<counters::InstructionMix>& mix);
  template <Record T>
  void read(T& record) {
    for_each_field<T>([&](const auto& field) { read(record.*field.member); });
  }
  template <Record T>
  void read(std::optional<T>& record) {
    const bool is_known = !statement_.isColumnNull(next_);
    read(record.emplace());
    if (!is_known) record.reset();
  }
  template <class T>
  [[nodiscard]] T value() {
    T value{};
    read(value);
    return value;
  }

 private:
  SQLite::Column next() { return statement_.getColumn(next_++); }

  SQLite::Statement& statement_;
  int next_ = 0;
};

/// The columns of table `device` that describe it, in the order that DeviceInfo is read and bound,
/// each behind `prefix`.
[[nodiscard]] std::string device_columns(std::string_view prefix);
[[nodiscard]] space::DeviceInfo read_device(RowReader& row);

/// Whether the best `b` of a query was chosen by a final round. Earlier versions stored one by
/// screening times where a run was interrupted; an imported one has its final round elsewhere.
inline constexpr std::string_view kIsConfirmed =
    "(EXISTS (SELECT 1 FROM main.session s WHERE s.id = b.session_id AND s.state = 'imported') "
    "OR EXISTS (SELECT 1 FROM main.final fi JOIN main.finalist f ON f.final_id = fi.id "
    "WHERE fi.session_id = b.session_id AND fi.problem_id = b.problem_id))";

}  // namespace tuner::store
