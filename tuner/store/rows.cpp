// SPDX-License-Identifier: Apache-2.0
#include "tuner/store/rows.hpp"

#include "tuner/core/hash.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <cmath>

namespace tuner {
namespace {

/// As the value comes back from SQLite, which keeps NaN as NULL.
std::string to_text(const std::optional<double>& value) {
  return value && !std::isnan(*value) ? fmt::format("{}", *value) : "none";
}

std::string to_text(const TimeRecord& time) {
  return fmt::format("{} {} {} {} {}", time.median_ns, time.q1_ns, time.q3_ns, time.min_ns,
                     time.samples);
}

}  // namespace

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
  for (const AttributeField& field : attribute_fields()) {
    columns += fmt::format(", {}{}", prefix, field.name);
  }
  return columns;
}

DeviceInfo read_device(RowReader& row) {
  DeviceInfo device;
  device.backend = row.text();
  device.name = row.text();
  device.architecture = row.text();
  for (const AttributeField& field : attribute_fields()) {
    device.attributes.*field.member = row.integer();
  }
  return device;
}

std::optional<TimeRecord> read_optional_time(RowReader& row) {
  const std::optional<double> median = row.optional_real();
  TimeRecord time{.median_ns = median.value_or(0)};
  time.q1_ns = row.real();
  time.q3_ns = row.real();
  time.min_ns = row.real();
  time.samples = row.number();
  if (!median) return std::nullopt;
  return time;
}

TimeRecord read_time(RowReader& row) {
  return read_optional_time(row).value_or(TimeRecord{});
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

std::string checksum(const TrialRecord& trial) {
  const std::string numbers =
      fmt::format("{} {} {} {} {} {} {} {} {}", trial.time ? to_text(*trial.time) : "none",
                  to_text(trial.worst_error), trial.check_seed, trial.registers, trial.shared_bytes,
                  trial.local_bytes, trial.compile_ms, trial.verify_ms, trial.measure_ms);
  return content_hash(
      {trial.problem, trial.config_json, name(trial.outcome), trial.message, numbers});
}

std::string checksum(const StoredBest& stored) {
  const BestRecord& best = stored.best;
  const std::string numbers =
      fmt::format("{} {} {} {} {} {} {} {} {} {}", to_text(best.time), to_text(best.library_ns),
                  to_text(best.default_ns), to_text(best.ratio_to_library),
                  to_text(best.ratio_to_default), to_text(best.ratio_to_library_low),
                  to_text(best.ratio_to_library_high), best.ties, best.flops, best.bytes);
  const Subject& subject = stored.subject;
  return content_hash({subject.device.backend, subject.device.name, subject.device.architecture,
                       subject.environment.driver, subject.environment.compiler,
                       subject.environment.library, subject.environment.tool, subject.kernel.family,
                       subject.kernel.kernel, subject.kernel.hash, best.problem, best.config_json,
                       best.library_name, best.recorded_at, numbers});
}

}  // namespace tuner
