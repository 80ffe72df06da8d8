// SPDX-License-Identifier: Apache-2.0
#include "tuner/interop/recording_text.hpp"

#include "tuner/interop/python_value.hpp"
#include "tuner/interop/recording_file.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <charconv>

namespace tuner::interop {
namespace {

/// As Python's json.dumps writes it by default: one line, a space after ':' and ','.
std::string python_json(const Json& json) {
  if (!json.is_structured() || json.empty()) return json.dump();
  std::string text;
  for (const auto& item : json.items()) {
    if (!text.empty()) text += ", ";
    if (json.is_object()) text += Json(item.key()).dump() + ": ";
    text += python_json(item.value());
  }
  return json.is_object() ? fmt::format("{{{}}}", text) : fmt::format("[{}]", text);
}

Json configuration(const space::SpaceDefinition& definition, const space::Config& config) {
  Json json = Json::object();
  for (std::size_t i = 0; i < definition.parameters.size(); ++i) {
    json[definition.parameters[i].name] = json_value(definition.parameters[i], config.choice[i]);
  }
  return json;
}

/// "4096,4096" as [4096, 4096]; what is no list of numbers as it is.
Json problem_size(const std::string& problem) {
  Json sizes = Json::array();
  for (std::size_t begin = 0; begin <= problem.size();) {
    const std::size_t end = std::min(problem.find(',', begin), problem.size());
    std::int64_t size = 0;
    const char* const last = problem.data() + end;
    const auto [stop, error] = std::from_chars(problem.data() + begin, last, size);
    if (error != std::errc{} || stop != last) return problem;
    sizes.push_back(size);
    begin = end + 1;
  }
  return sizes;
}

Json cache_head(const Recording& recording) {
  Json keys = Json::array();
  Json values = Json::object();
  for (const space::Parameter& parameter : recording.definition->parameters) {
    keys.push_back(parameter.name);
    Json list = Json::array();
    for (std::size_t i = 0; i < parameter.values.size(); ++i) {
      list.push_back(json_value(parameter, i));
    }
    values[parameter.name] = std::move(list);
  }
  return {{"device_name", recording.device},
          {"kernel_name", recording.kernel},
          {"problem_size", problem_size(recording.problem)},
          {"tune_params_keys", std::move(keys)},
          {"tune_params", std::move(values)},
          {"objective", "time"}};
}

std::string_view error_name(Outcome outcome) {
  const bool uncompiled = outcome == Outcome::compile_error || outcome == Outcome::compile_timeout;
  return uncompiled ? "CompilationFailedConfig" : "RuntimeFailedConfig";
}

Json cache_entry(const space::SpaceDefinition& definition, const RecordedTrial& trial) {
  Json entry = configuration(definition, trial.config);
  if (trial.time_ms) {
    entry["time"] = *trial.time_ms;
    entry["times"] = {*trial.time_ms};
  } else {
    entry["time"] = error_name(trial.outcome);
  }
  if (trial.cost_s) {
    for (const char* part :
         {"compile_time", "verification_time", "strategy_time", "framework_time"}) {
      entry[part] = 0;
    }
    entry["benchmark_time"] = *trial.cost_s * 1000;
  }
  return entry;
}

std::string_view invalidity(Outcome outcome) {
  switch (outcome) {
    case Outcome::ok:
      return "correct";
    case Outcome::compile_error:
    case Outcome::compile_timeout:
      return "compile";
    case Outcome::timeout:
      return "timeout";
    case Outcome::wrong_result:
    case Outcome::out_of_bounds:
    case Outcome::nondeterministic:
    case Outcome::implausible:
      return "correctness";
    case Outcome::launch_error:
    case Outcome::crashed:
    case Outcome::unstable:
    case Outcome::quarantined:
      return "runtime";
  }
  return "runtime";
}

Json t4_result(const space::SpaceDefinition& definition, const RecordedTrial& trial) {
  Json times = Json::object();
  if (trial.cost_s) {
    times = {{"compilation", 0}, {"framework", 0}, {"search_algorithm", 0}, {"validation", 0}};
    times["benchmark"] = *trial.cost_s * 1000;
  }
  Json measurements = Json::array();
  times["runtimes"] = Json::array();
  if (trial.time_ms) {
    times["runtimes"].push_back(*trial.time_ms);
    measurements.push_back({{"name", "time"}, {"value", *trial.time_ms}, {"unit", "ms"}});
  }
  return {{"configuration", configuration(definition, trial.config)},
          {"objectives", {"time"}},
          {"times", std::move(times)},
          {"invalidity", invalidity(trial.outcome)},
          {"correctness", trial.outcome == Outcome::ok ? 1 : 0},
          {"measurements", std::move(measurements)}};
}

}  // namespace

std::string cache_text(const Recording& recording) {
  // Kernel Tuner's own way: the head with each value on a line, opened for the entries.
  std::string text = cache_head(recording).dump(0);
  text.resize(text.size() - 2);  // "\n}"
  text += ",\n\"cache\": {";
  std::string_view separator = "\n";
  for (const RecordedTrial& trial : recording.trials) {
    text += fmt::format("{}{}: {}", separator,
                        Json(cache_key(*recording.definition, trial.config)).dump(),
                        python_json(cache_entry(*recording.definition, trial)));
    separator = ",\n";
  }
  return text + "}\n}\n";
}

std::string t4_text(const Recording& recording) {
  const Json metadata = {{"timeunit", "milliseconds"},
                         {"kernel_name", recording.kernel},
                         {"device_name", recording.device},
                         {"problem_size", recording.problem}};
  std::string text = fmt::format(R"({{"schema_version": "1.0.0", "metadata": {}, "results": [)",
                                 python_json(metadata));
  std::string_view separator = "\n";
  for (const RecordedTrial& trial : recording.trials) {
    text += fmt::format("{}{}", separator, python_json(t4_result(*recording.definition, trial)));
    separator = ",\n";
  }
  return text + "\n]}\n";
}

}  // namespace tuner::interop
