// SPDX-License-Identifier: Apache-2.0
#include "tuner/store/rows.hpp"

#include "tuner/core/json.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <charconv>

namespace tuner::store {
namespace {

/// The members of a value that `fields` names, as a JSON object by their names.
template <class Value, class Fields>
std::string to_object(const Value& value, const Fields& fields) {
  Json object = Json::object();
  for (const auto& field : fields) object[std::string(field.name)] = value.*field.member;
  return object.dump();
}

/// What to_object wrote. A field that is not there, as of a later version's, keeps its default.
template <class Value, class Fields>
std::optional<Value> from_object(const std::string& text, const Fields& fields) {
  if (text.empty()) return std::nullopt;
  Value value;
  const Json object = parse_json(text, "a stored explanation");
  for (const auto& field : fields) {
    const auto found = object.find(std::string(field.name));
    if (found != object.end() && found->is_number()) found->get_to(value.*field.member);
  }
  return value;
}

}  // namespace

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

void bind_value(SQLite::Statement& statement, int index, std::string_view value) {
  statement.bind(index, std::string(value));
}

void bind_value(SQLite::Statement& statement, int index, double value) {
  statement.bind(index, value);
}

void bind_value(SQLite::Statement& statement, int index, std::nullopt_t) {
  statement.bind(index);
}

void bind_value(SQLite::Statement& statement, int index, Outcome value) {
  bind_value(statement, index, name(value));
}

void bind_value(SQLite::Statement& statement, int index, const std::vector<double>& samples) {
  bind_value(statement, index, samples_to_json(samples));
}

void bind_value(SQLite::Statement& statement, int index, const counters::Counters& counters) {
  bind_value(statement, index, to_object(counters, counters::counter_fields()));
}

void bind_value(SQLite::Statement& statement, int index, const counters::InstructionMix& mix) {
  bind_value(statement, index, to_object(mix, counters::instruction_fields()));
}

void RowReader::read(Outcome& value) {
  value = outcome_from_name(text()).value_or(Outcome::crashed);
}

void RowReader::read(std::optional<counters::Counters>& counters) {
  counters = from_object<counters::Counters>(text(), counters::counter_fields());
}

void RowReader::read(std::optional<counters::InstructionMix>& mix) {
  mix = from_object<counters::InstructionMix>(text(), counters::instruction_fields());
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

}  // namespace tuner::store
