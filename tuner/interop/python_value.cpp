// SPDX-License-Identifier: Apache-2.0
#include "tuner/interop/python_value.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace tuner::interop {
namespace {

/// repr() of a float: the shortest digits that give it back, which fmt writes alike but for ".0".
std::string float_text(double number) {
  std::string text = fmt::format("{}", number);
  if (text.find_first_of(".en") == std::string::npos) text += ".0";
  return text;
}

/// The number in a text, or null.
Json number_of(const std::string& text) {
  const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  return json.is_number() ? json : Json();
}

/// Whether a parameter's words are numbers, of which at least one is not whole: then they were
/// numbers in the file; if all are whole, they were strings.
bool has_fractions(const space::Parameter& parameter) {
  return std::ranges::any_of(parameter.values, [](const space::ParameterValue& value) {
    return number_of(value.text).is_number_float();
  });
}

}  // namespace

std::string python_text(const Json& value) {
  switch (value.type()) {
    case Json::value_t::string:
      return value.get<std::string>();
    case Json::value_t::boolean:
      return value.get<bool>() ? "True" : "False";
    case Json::value_t::number_float:
      return float_text(value.get<double>());
    case Json::value_t::null:
      return "None";
    default:
      return value.dump();
  }
}

std::string python_text(const space::Parameter& parameter, std::size_t index) {
  const std::string& text = parameter.values[index].text;
  if (parameter.value_kind == space::ValueKind::number) {
    if (text == "true") return "True";
    if (text == "false") return "False";
  }
  return text;
}

Json json_value(const space::Parameter& parameter, std::size_t index) {
  const std::string text = python_text(parameter, index);
  if (parameter.value_kind == space::ValueKind::number) {
    if (text == "True" || text == "False") return text == "True";
    return parameter.values[index].number;
  }
  if (has_fractions(parameter)) {
    if (Json number = number_of(text); number.is_number()) return number;
  }
  return text;
}

}  // namespace tuner::interop
