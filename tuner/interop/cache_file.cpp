// SPDX-License-Identifier: Apache-2.0
#include "tuner/core/error.hpp"
#include "tuner/core/printable.hpp"
#include "tuner/interop/python_value.hpp"
#include "tuner/interop/recording_formats.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

namespace tuner::interop {
namespace {

/// What Kernel Tuner writes in place of the time of a configuration that failed.
constexpr std::array<std::string_view, 4> kErrors = {"InvalidConfig", "CompilationFailedConfig",
                                                     "RuntimeFailedConfig", "ErrorConfig"};
constexpr std::array kTimes = {"compile_time", "benchmark_time", "framework_time", "strategy_time",
                               "verification_time"};

[[noreturn]] void refuse(std::string_view origin, std::string_view why) {
  throw Error(ErrorCode::usage, fmt::format("{}: {}", origin, why));
}

/// The name of the error that an entry ended with; empty when with none. The field of the objective
/// holds it, whichever that is, or `__error__`.
std::string error_of(const Json& entry) {
  if (entry.contains("__error__")) {
    const std::string error = text_member(entry, "__error__");
    return error.empty() ? "ErrorConfig" : error;
  }
  for (const Json& value : entry) {
    if (!value.is_string()) continue;
    const auto& text = value.get_ref<const std::string&>();
    if (std::ranges::find(kErrors, text) != kErrors.end()) return text;
  }
  return "";
}

RecordedResult result_of(const Json& entry) {
  EvaluationTime cost;
  for (const char* time : kTimes) cost.add(member(entry, time));
  const std::string error = error_of(entry);
  const auto time = objective_of(member(entry, "time"));
  if (error.empty() && time) {
    return {.outcome = Outcome::ok, .time_ms = time, .cost_s = cost.seconds()};
  }
  const bool no_program = error == "CompilationFailedConfig" || error == "InvalidConfig";
  return {.outcome = no_program ? Outcome::compile_error : Outcome::launch_error,
          .cost_s = cost.seconds()};
}

/// The value of a part of a key.
Json value_of_text(const std::string& text) {
  std::int64_t number = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc{} && stop == text.data() + text.size()) return number;
  return text;
}

/// The values of a key, for an entry that does not repeat them.
std::vector<Json> values_of_key(std::string_view key) {
  std::vector<Json> values;
  for (std::size_t begin = 0; begin <= key.size();) {
    const std::size_t end = std::min(key.find(',', begin), key.size());
    values.push_back(value_of_text(std::string(key.substr(begin, end - begin))));
    begin = end + 1;
  }
  return values;
}

std::vector<std::string> names_of(const EntryDocument& document, std::string_view origin) {
  const Json& keys = member(document.head, "tune_params_keys");
  std::vector<std::string> names;
  if (keys.is_array()) {
    for (const Json& key : keys) {
      if (!key.is_string()) refuse(origin, "tune_params_keys must be a list of names");
      names.push_back(key.get<std::string>());
    }
  } else if (const Json& values = member(document.head, "tune_params"); values.is_object()) {
    for (const auto& item : values.items()) names.push_back(item.key());
  }
  if (names.empty()) refuse(origin, "names no parameters: 'tune_params_keys' is missing");
  return names;
}

/// Of [4096, 4096], 20000000 or "callable".
std::string problem_of(const Json& size) {
  if (size.is_null() || size.is_object()) return "";
  if (!size.is_array()) return printable(python_text(size));
  std::string text;
  for (const Json& part : size) {
    if (part.is_structured()) return printable(size.dump());
    text += fmt::format("{}{}", text.empty() ? "" : ",", python_text(part));
  }
  return printable(text);
}

std::vector<Json> values_of(const std::string& key, const Json& entry,
                            std::span<const std::string> names, std::string_view origin) {
  const bool complete =
      std::ranges::all_of(names, [&](const std::string& name) { return entry.contains(name); });
  std::vector<Json> values;
  if (!complete) {
    values = values_of_key(key);
    if (values.size() == names.size()) return values;
    refuse(origin, fmt::format("the configuration \"{}\" does not say what its parameters {} are",
                               key, fmt::join(names, ", ")));
  }
  for (const std::string& name : names) values.push_back(entry.at(name));
  return values;
}

}  // namespace

Recording read_cache(const EntryDocument& document, std::string_view origin) {
  RecordingBuilder builder(names_of(document, origin), std::string(origin));
  const Json& lists = member(document.head, "tune_params");
  for (std::size_t i = 0; i < builder.names().size(); ++i) {
    const Json& list = member(lists, builder.names()[i].c_str());
    if (!list.is_null()) builder.list_values(i, list);
  }
  for (const auto& [key, entry] : document.entries) {
    if (!entry.is_object()) refuse(origin, fmt::format("cache[\"{}\"] must be an object", key));
    builder.add(values_of(key, entry, builder.names(), origin), result_of(entry));
  }
  Recording recording = builder.take();
  recording.kernel = name_member(document.head, "kernel_name");
  recording.device = name_member(document.head, "device_name");
  recording.problem = problem_of(member(document.head, "problem_size"));
  return recording;
}

}  // namespace tuner::interop
