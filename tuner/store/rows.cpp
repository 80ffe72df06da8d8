// SPDX-License-Identifier: Apache-2.0
#include "tuner/store/rows.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>

namespace tuner::store {
void bind_value(SQLite::Statement& statement, int index, std::string_view value) {
  statement.bind(index, std::string(value));
}

void bind_value(SQLite::Statement& statement, int index, double value) {
  statement.bind(index, value);
}

void bind_value(SQLite::Statement& statement, int index, std::nullopt_t) {
  statement.bind(index);
}

std::optional<double> RowReader::optional_real() {
  const SQLite::Column column = next();
  if (column.isNull()) return std::nullopt;
  return column.getDouble();
}

std::string device_columns(std::string_view prefix) {
  std::string columns = fmt::format("{0}backend, {0}name, {0}architecture", prefix);
  for (const space::AttributeField& field : space::attribute_fields()) {
    columns += fmt::format(", {}{}", prefix, field.name);
  }
  return columns;
}

space::DeviceInfo read_device(RowReader& row) {
  space::DeviceInfo device;
  device.backend = row.text();
  device.name = row.text();
  device.architecture = row.text();
  for (const space::AttributeField& field : space::attribute_fields()) {
    device.attributes.*field.member = row.integer();
  }
  return device;
}

std::optional<TimeSummary> read_optional_time(RowReader& row) {
  const std::optional<double> median = row.optional_real();
  TimeSummary time{.median_ns = median.value_or(0)};
  time.q1_ns = row.real();
  time.q3_ns = row.real();
  time.min_ns = row.real();
  time.samples = row.number();
  if (!median) return std::nullopt;
  return time;
}

TimeSummary read_time(RowReader& row) {
  return read_optional_time(row).value_or(TimeSummary{});
}

std::string samples_to_json(const std::vector<double>& samples_ns) {
  return fmt::format("[{}]", fmt::join(samples_ns, ","));
}

std::vector<double> samples_from_json(std::string_view json) {
  std::vector<double> samples;
  const char* const end = json.data() + json.size();
  for (const char* at = json.data() + 1; at < end;) {
    double sample = 0;
    const auto [stop, error] = std::from_chars(at, end, sample);
    if (error != std::errc{}) break;
    samples.push_back(sample);
    at = stop + 1;  // over the comma
  }
  return samples;
}

}  // namespace tuner::store
