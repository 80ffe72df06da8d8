// SPDX-License-Identifier: Apache-2.0
#include "tuner/core/error.hpp"
#include "tuner/core/printable.hpp"
#include "tuner/interop/recording_formats.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

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

/// The unit's milliseconds; throws for what is no unit of time.
double require_unit(const std::string& unit, std::string_view place) {
  if (const auto ms = unit_in_ms(unit)) return *ms;
  throw Error(ErrorCode::usage,
              fmt::format("{}: '{}' is no unit of time; known are ns, us, ms, s and their names",
                          place, printable(unit)));
}

/// Makes of results what became of trials.
class ResultReader {
 public:
  ResultReader(const Json& metadata, std::string_view origin) : origin_(origin) {
    const std::string unit = text_member(metadata, "timeunit");
    if (!unit.empty()) unit_ms_ = require_unit(unit, fmt::format("{}: metadata.timeunit", origin));
  }

  [[nodiscard]] RecordedResult result_of(std::size_t index, const Json& result) const {
    EvaluationTime cost(unit_ms_);
    for (const char* time : kTimes) cost.add(member(member(result, "times"), time));
    const Outcome outcome = outcome_of(text_member(result, "invalidity"));
    if (outcome != Outcome::ok) return {.outcome = outcome, .cost_s = cost.seconds()};
    const auto time = measured_time_ms(index, result);
    return {.outcome = time ? Outcome::ok : Outcome::launch_error,
            .time_ms = time,
            .cost_s = cost.seconds()};
  }

 private:
  [[nodiscard]] std::optional<double> measured_time_ms(std::size_t index,
                                                       const Json& result) const {
    std::vector<std::string> others;
    for (const Json& measurement : member(result, "measurements")) {
      if (text_member(measurement, "name") != "time") {
        others.push_back(name_member(measurement, "name"));
        continue;
      }
      const std::string unit = text_member(measurement, "unit");
      const double unit_ms =
          unit.empty() ? unit_ms_
                       : require_unit(unit, fmt::format("{}: results[{}]: measurements: unit",
                                                        origin_, index));
      const auto time = objective_of(member(measurement, "value"));
      return time ? std::optional(*time * unit_ms) : std::nullopt;
    }
    if (!others.empty()) {
      refuse(
          origin_, index,
          fmt::format("no measurement is named \"time\", only {}: give the trial's time that name",
                      fmt::join(others, ", ")));
    }
    return std::nullopt;
  }

  std::string_view origin_;
  double unit_ms_ = 1;
};

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

Recording read_t4(const EntryDocument& document, std::string_view origin) {
  RecordingBuilder builder(names_of(document, origin), std::string(origin));
  const Json& metadata = member(document.head, "metadata");
  const ResultReader reader(metadata, origin);
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
    builder.add(values, reader.result_of(index, result));
  }
  Recording recording = builder.take();
  recording.kernel = name_member(metadata, "kernel_name");
  recording.device = name_member(metadata, "device_name");
  recording.problem = name_member(metadata, "problem_size");
  return recording;
}

}  // namespace tuner::interop
