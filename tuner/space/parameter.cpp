// SPDX-License-Identifier: Apache-2.0
#include "tuner/space/parameter.hpp"

#include "tuner/core/error.hpp"
#include "tuner/core/file_errors.hpp"
#include "tuner/core/printable.hpp"
#include "tuner/core/suggest.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <set>

namespace tuner::space {
namespace {

constexpr std::size_t kMostValues = std::size_t{1} << 16;

std::int64_t integer(const Json& json, std::string_view where) {
  constexpr std::uint64_t kLargest = std::numeric_limits<std::int64_t>::max();
  if (!json.is_number_integer()) {
    refuse(where, fmt::format("must be a whole number, not {}", json.dump()));
  }
  if (json.is_number_unsigned() && json.get<std::uint64_t>() > kLargest) {
    refuse(where, fmt::format("{} does not fit in 64 bits", json.dump()));
  }
  return json.get<std::int64_t>();
}

ParameterValue number_value(std::int64_t number) {
  return {number, std::to_string(number)};
}

/// A whole number, a boolean or a word.
ParameterValue single_value(const Json& json, Scope& scope, std::string_view where) {
  if (json.is_boolean()) return {json.get<bool>() ? 1 : 0, json.get<bool>() ? "true" : "false"};
  if (json.is_string()) {
    const auto word = json.get<std::string>();
    if (!word.empty() && word.find_first_not_of("-0123456789") == std::string::npos) {
      refuse(where, fmt::format("{} is a text: write the number without quotes", json.dump()));
    }
    if (!is_word(word)) {
      refuse(where, fmt::format("{} is not a word: at most 64 letters, digits and underscores, not "
                                "beginning with a digit",
                                json.dump()));
    }
    return {scope.intern(word), word};
  }
  if (!json.is_number_integer()) {
    refuse(where,
           fmt::format("a value is a whole number, true, false or a word, not {}", json.dump()));
  }
  return number_value(integer(json, where));
}

std::vector<ParameterValue> listed_values(const Json& json, Scope& scope, std::string_view where) {
  if (!json.is_array() || json.empty()) refuse(where, "must be a list of at least one value");
  if (json.size() > kMostValues) {
    refuse(where, fmt::format("{} values; at most {} are possible", json.size(), kMostValues));
  }
  std::vector<ParameterValue> values;
  std::set<std::string> seen;
  for (const Json& item : json) {
    const std::string place = fmt::format("{}[{}]", where, values.size());
    values.push_back(single_value(item, scope, place));
    const Json& first = json.front();
    const bool mixed =
        item.is_string() != first.is_string() || item.is_boolean() != first.is_boolean();
    if (mixed) refuse(place, "numbers, booleans and words cannot be mixed in one list");
    if (!seen.insert(values.back().text).second) {
      refuse(place, fmt::format("the value {} appears twice", item.dump()));
    }
  }
  return values;
}

std::vector<std::int64_t> integers(const Json& json, std::size_t count, std::string_view form,
                                   std::string_view where) {
  if (!json.is_array() || json.size() != count) refuse(where, fmt::format("must be {}", form));
  std::vector<std::int64_t> numbers;
  for (const Json& item : json) {
    numbers.push_back(integer(item, fmt::format("{}[{}]", where, numbers.size())));
  }
  if (numbers[0] > numbers[1]) {
    refuse(where,
           fmt::format("the first number, {}, is above the last, {}", numbers[0], numbers[1]));
  }
  return numbers;
}

std::vector<ParameterValue> range_values(const Json& json, std::string_view where) {
  const auto bounds = integers(json, 3, "[first, last, step]", where);
  if (bounds[2] < 1) refuse(where, fmt::format("the step must be at least 1, not {}", bounds[2]));
  const auto first = static_cast<std::uint64_t>(bounds[0]);
  const std::uint64_t steps =
      (static_cast<std::uint64_t>(bounds[1]) - first) / static_cast<std::uint64_t>(bounds[2]);
  if (steps >= kMostValues) {
    refuse(where, fmt::format("more than {} values; take a larger step", kMostValues));
  }
  std::vector<ParameterValue> values;
  for (std::uint64_t i = 0; i <= steps; ++i) {
    values.push_back(
        number_value(static_cast<std::int64_t>(first + i * static_cast<std::uint64_t>(bounds[2]))));
  }
  return values;
}

std::vector<ParameterValue> power_values(const Json& json, std::string_view where) {
  const auto bounds = integers(json, 2, "[first, last], both powers of two", where);
  for (const std::int64_t bound : bounds) {
    if (bound < 1 || !std::has_single_bit(static_cast<std::uint64_t>(bound))) {
      refuse(where, fmt::format("{} is not a power of two", bound));
    }
  }
  std::vector<ParameterValue> values;
  auto power = static_cast<std::uint64_t>(bounds[0]);
  for (; power <= static_cast<std::uint64_t>(bounds[1]); power *= 2) {
    values.push_back(number_value(static_cast<std::int64_t>(power)));
  }
  return values;
}

std::vector<ParameterValue> parse_values(const Json& json, Scope& scope, std::string_view where) {
  const std::size_t given = json.count("values") + json.count("range") + json.count("pow2");
  if (given != 1) refuse(where, "needs exactly one of 'values', 'range' and 'pow2'");
  const std::string key = json.contains("values")  ? "values"
                          : json.contains("range") ? "range"
                                                   : "pow2";
  const std::string place = fmt::format("{}.{}", where, key);
  if (key == "values") return listed_values(json[key], scope, place);
  return key == "range" ? range_values(json[key], place) : power_values(json[key], place);
}

std::size_t parse_default(const Json& json, const Parameter& parameter, std::string_view where) {
  if (!json.contains("default")) {
    refuse(where, fmt::format("'default' is missing: one of its values, such as \"default\": {}",
                              parameter.values.empty() ? "1" : parameter.values.front().text));
  }
  const Json& value = json["default"];
  const std::string text = value.is_string() ? value.get<std::string>() : value.dump();
  const bool is_word = parameter.value_kind == ValueKind::word;
  std::vector<std::string> known;
  for (const ParameterValue& candidate : parameter.values) known.push_back(candidate.text);
  const auto found = std::find(known.begin(), known.end(), text);
  if (found == known.end() || value.is_string() != is_word) {
    refuse(fmt::format("{}.default", where),
           fmt::format("{} is not one of the values{}", value.dump(), did_you_mean(text, known)));
  }
  return static_cast<std::size_t>(found - known.begin());
}

ParameterKind parse_kind(const Json& json, std::string_view where) {
  if (!json.contains("kind")) return ParameterKind::template_argument;
  const std::string kind = string_member(json, "kind", where);
  if (kind == "template") return ParameterKind::template_argument;
  if (kind == "define") return ParameterKind::define;
  if (kind == "launch") return ParameterKind::launch;
  if (kind == "option") return ParameterKind::option;
  const std::array<std::string, 4> known = {"template", "define", "launch", "option"};
  refuse(fmt::format("{}.kind", where),
         fmt::format("unknown kind '{}'{}", kind, did_you_mean(kind, known)));
}

/// The compiler option of a parameter of kind option, whose values must suit it.
std::string parse_option(const Json& json, const Parameter& parameter, std::string_view where) {
  constexpr const char* kRegisters = "--maxrregcount";
  static const std::vector<std::string> known = {kRegisters, "--use_fast_math", "-lineinfo",
                                                 "--extra-device-vectorization"};
  std::string option = string_member(json, "option", where);
  if (std::find(known.begin(), known.end(), option) == known.end()) {
    refuse(fmt::format("{}.option", where),
           fmt::format("the compiler option '{}' is not one of {}{}", option,
                       fmt::join(known, ", "), did_you_mean(option, known)));
  }
  const bool is_number = option == kRegisters;
  for (const ParameterValue& value : parameter.values) {
    const bool is_boolean = value.text == "true" || value.text == "false";
    if (parameter.value_kind == ValueKind::number && is_boolean != is_number) continue;
    refuse(where, is_number ? fmt::format("the values of {} are numbers; 0 leaves it out", option)
                            : fmt::format("the values of {} are true and false", option));
  }
  return option;
}

}  // namespace

void refuse(std::string_view where, std::string_view why) {
  throw Error(ErrorCode::usage, fmt::format("{}: {}", where, why));
}

void expect_object(const Json& json, std::span<const std::string> keys, std::string_view where) {
  constexpr std::size_t kFew = 9;  // more do not help
  if (!json.is_object()) {
    refuse(where,
           fmt::format("must be an object{}, not {}",
                       keys.size() > kFew ? "" : fmt::format(" (keys: {})", fmt::join(keys, ", ")),
                       json.type_name()));
  }
  ErrorCollector errors;
  for (const auto& [key, value] : json.items()) {
    if (errors.is_full()) break;
    if (std::find(keys.begin(), keys.end(), key) != keys.end()) continue;
    errors.attempt(
        [&] { refuse(where, fmt::format("unknown key '{}'{}", key, did_you_mean(key, keys))); });
  }
  errors.throw_any();
}

std::string string_member(const Json& object, const std::string& key, std::string_view where) {
  if (!object.contains(key)) refuse(where, fmt::format("'{}' is missing", key));
  const Json& value = object[key];
  if (!value.is_string()) {
    refuse(fmt::format("{}.{}", where, key),
           fmt::format("must be a string, not {}", value.type_name()));
  }
  auto text = value.get<std::string>();
  if (printable(text) != text || text.find('\n') != std::string::npos) {
    refuse(fmt::format("{}.{}", where, key),
           "holds a control character: texts are one line without any");
  }
  return text;
}

Expression compile_number(const Json& text, const Scope& scope, std::span<const std::string> later,
                          std::string_view where) {
  if (!text.is_string()) {
    refuse(where, fmt::format("must be a string with an expression, not {}", text.type_name()));
  }
  const auto source = text.get<std::string>();
  auto expression = Expression::compile(source, scope);
  if (!expression) {
    ExpressionError error = expression.error();
    const std::string place = source.substr(std::min(error.column, source.size()), error.length);
    if (std::find(later.begin(), later.end(), place) != later.end()) {
      error.message =
          fmt::format("'{}' is not known yet: only names declared before it can be used", place);
    }
    refuse(where, error.with_caret(source));
  }
  if (expression->kind() == ValueKind::word) {
    refuse(where, fmt::format("is a word, not a number: {}", source));
  }
  return *std::move(expression);
}

Parameter parse_parameter(const std::string& name, const Json& json, Scope& scope,
                          std::span<const std::string> later, std::string_view where) {
  static const std::array<std::string, 9> keys = {
      "values", "range", "pow2", "default", "default_at", "doc", "when", "kind", "option"};
  expect_object(json, keys, where);
  Parameter parameter;
  parameter.name = name;
  parameter.values = parse_values(json, scope, where);
  if (json.contains("values") && json["values"].front().is_string()) {
    parameter.value_kind = ValueKind::word;
  }
  parameter.default_index = parse_default(json, parameter, where);
  if (json.contains("doc")) parameter.doc = string_member(json, "doc", where);
  parameter.kind = parse_kind(json, where);
  if (parameter.kind == ParameterKind::option) {
    parameter.option = parse_option(json, parameter, where);
  } else if (json.contains("option")) {
    refuse(fmt::format("{}.option", where), "is only for parameters of kind \"option\"");
  }
  if (json.contains("when")) {
    parameter.when = compile_number(json["when"], scope, later, fmt::format("{}.when", where));
  }
  return parameter;
}

}  // namespace tuner::space
