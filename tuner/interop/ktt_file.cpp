// SPDX-License-Identifier: Apache-2.0
#include "tuner/core/error.hpp"
#include "tuner/interop/recording_formats.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tuner::interop {
namespace {

[[noreturn]] void refuse(std::string_view origin, std::size_t index, std::string_view why) {
  throw Error(ErrorCode::usage, fmt::format("{}: Results[{}]: {}", origin, index, why));
}

/// How many milliseconds the file's unit of time is.
double unit_ms(const Json& metadata, std::string_view origin) {
  const std::string unit = text_member(metadata, "TimeUnit");
  if (unit.empty()) return 1e-3;
  if (const auto ms = unit_in_ms(unit)) return *ms;
  throw Error(ErrorCode::usage,
              fmt::format("{}: Metadata.TimeUnit: '{}' is none of Nanoseconds, Microseconds, "
                          "Milliseconds, Seconds",
                          origin, unit));
}

Outcome outcome_of(const std::string& status) {
  if (status == "Ok") return Outcome::ok;
  if (status == "CompilationFailed" || status == "DeviceLimitsExceeded") {
    return Outcome::compile_error;
  }
  return status == "ValidationFailed" ? Outcome::wrong_result : Outcome::launch_error;
}

double number_member(const Json& object, const char* name) {
  return objective_of(member(object, name)).value_or(0);
}

/// What the kernel took: all its launches and what lies between them.
std::optional<double> duration(const Json& result) {
  if (const auto total = objective_of(member(result, "TotalDuration"))) return total;
  std::optional<double> sum;
  for (const Json& launch : member(result, "ComputationResults")) {
    if (const auto part = objective_of(member(launch, "Duration"))) sum = sum.value_or(0) + *part;
  }
  if (sum) *sum += number_member(result, "ExtraDuration");
  return sum;
}

RecordedResult result_of(const Json& result, double ms) {
  Outcome outcome = outcome_of(text_member(result, "Status"));
  const auto time = duration(result);
  if (outcome == Outcome::ok && !time) outcome = Outcome::launch_error;
  // The overhead holds compiling, searching and verifying; moving data is not a trial's cost, as
  // the field's scoring has it.
  EvaluationTime cost;
  if (time) cost.add(*time * ms);
  if (const auto overhead = objective_of(member(result, "TotalOverhead"))) {
    cost.add((*overhead - number_member(result, "DataMovementOverhead")) * ms);
  }
  return {.outcome = outcome,
          .time_ms = outcome == Outcome::ok ? std::optional(*time * ms) : std::nullopt,
          .cost_s = cost.seconds()};
}

std::vector<std::string> parameters_of(const EntryDocument& document, std::string_view origin) {
  std::vector<std::string> names;
  if (document.entries.empty()) return names;
  const Json& first = member(document.entries.front().second, "Configuration");
  if (!first.is_array()) refuse(origin, 0, "'Configuration' must be a list");
  for (const Json& pair : first) names.push_back(text_member(pair, "Name"));
  return names;
}

std::vector<Json> values_of(const Json& configuration, const std::vector<std::string>& names,
                            std::string_view origin, std::size_t index) {
  std::vector<Json> values;
  for (const std::string& name : names) {
    const auto found = std::ranges::find_if(
        configuration, [&](const Json& pair) { return text_member(pair, "Name") == name; });
    if (found == configuration.end()) {
      refuse(origin, index, fmt::format("the configuration has no value for {}", name));
    }
    values.push_back(member(*found, "Value"));
  }
  if (configuration.size() != values.size()) {
    refuse(origin, index, "the configuration has other parameters than the first");
  }
  return values;
}

}  // namespace

Recording read_ktt(const EntryDocument& document, std::string_view origin) {
  const Json& metadata = member(document.head, "Metadata");
  const double ms = unit_ms(metadata, origin);
  RecordingBuilder builder(parameters_of(document, origin), std::string(origin));
  for (std::size_t index = 0; index < document.entries.size(); ++index) {
    const Json& result = document.entries[index].second;
    const Json& configuration = member(result, "Configuration");
    builder.add(values_of(configuration, builder.names(), origin, index), result_of(result, ms));
  }
  Recording recording = builder.take();
  recording.kernel = name_member(document.entries.front().second, "KernelName");
  recording.device = name_member(metadata, "Device");
  return recording;
}

}  // namespace tuner::interop
