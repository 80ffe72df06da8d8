// SPDX-License-Identifier: Apache-2.0
#include "tuner/core/error.hpp"
#include "tuner/interop/recording_formats.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace tuner::interop {
namespace {

/// What the schema and the tools call the parts of a trial's cost.
constexpr std::array kTimes = {"compilation", "compilation_time", "benchmark",
                               "framework",   "search_algorithm", "validation"};

[[noreturn]] void refuse(std::string_view origin, std::size_t index, std::string_view why) {
  throw Error(ErrorCode::usage, fmt::format("{}: results[{}]: {}", origin, index, why));
}

Outcome outcome_of(const std::string& invalidity) {
  if (invalidity == "correct" || invalidity.empty()) return Outcome::ok;
  if (invalidity == "compile" || invalidity == "constraints") return Outcome::compile_error;
  if (invalidity == "timeout") return Outcome::timeout;
  if (invalidity == "correctness") return Outcome::wrong_result;
  return Outcome::launch_error;
}

std::optional<double> measured_time(const Json& result) {
  for (const Json& measurement : member(result, "measurements")) {
    if (text_member(measurement, "name") == "time") {
      return objective_of(member(measurement, "value"));
    }
  }
  return std::nullopt;
}

Fate fate_of(const Json& result) {
  EvaluationTime cost;
  for (const char* time : kTimes) cost.add(member(member(result, "times"), time));
  const Outcome outcome = outcome_of(text_member(result, "invalidity"));
  if (outcome != Outcome::ok) return {.outcome = outcome, .cost_s = cost.seconds()};
  const auto time = measured_time(result);
  return {.outcome = time ? Outcome::ok : Outcome::launch_error,
          .time_ms = time,
          .cost_s = cost.seconds()};
}

/// The parameters, which every result repeats.
std::vector<std::string> names_of(const EntryDocument& document, std::string_view origin) {
  std::vector<std::string> names;
  if (document.entries.empty()) return names;
  const Json& first = member(document.entries.front().second, "configuration");
  if (!first.is_object()) refuse(origin, 0, "'configuration' must be an object");
  for (const auto& item : first.items()) names.push_back(item.key());
  return names;
}

}  // namespace

search::Recording read_t4(const EntryDocument& document, std::string_view origin) {
  RecordingBuilder builder(names_of(document, origin), std::string(origin));
  for (std::size_t index = 0; index < document.entries.size(); ++index) {
    const Json& result = document.entries[index].second;
    const Json& configuration = member(result, "configuration");
    std::vector<Json> values;
    for (const std::string& name : builder.names()) {
      const auto found = configuration.find(name);
      if (found == configuration.end()) {
        refuse(origin, index, fmt::format("the configuration has no value for {}", name));
      }
      values.push_back(*found);
    }
    if (configuration.size() != values.size()) {
      refuse(origin, index, "the configuration has other parameters than the first");
    }
    builder.add(values, fate_of(result));
  }
  search::Recording recording = builder.take();
  const Json& metadata = member(document.head, "metadata");
  recording.kernel = name_member(metadata, "kernel_name");
  recording.device = name_member(metadata, "device_name");
  recording.problem = name_member(metadata, "problem_size");
  return recording;
}

}  // namespace tuner::interop
