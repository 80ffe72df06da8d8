// SPDX-License-Identifier: Apache-2.0
#include "tuner/interop/t1_space.hpp"

#include "tuner/core/error.hpp"
#include "tuner/interop/python_list.hpp"
#include "tuner/interop/python_value.hpp"
#include "tuner/interop/recording_formats.hpp"
#include "tuner/space/space.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace tuner::interop {
namespace {

[[noreturn]] void refuse(std::string_view where, std::string_view why) {
  throw Error(ErrorCode::usage, fmt::format("{}: {}", where, why));
}

/// A value as a space file has it. Strings stay, whether they are words the parser says.
Json space_value(const Json& value, std::string_view where) {
  if (value.is_number_integer() || value.is_boolean() || value.is_string()) return value;
  if (value.is_number_float()) {
    refuse(where,
           fmt::format("{} is not a whole number; a parameter of a space file has whole "
                       "numbers, booleans or words: list numerators and divide in the kernel",
                       python_text(value)));
  }
  refuse(where, "a value must be a number, a boolean or a string");
}

Json values_of(const Json& parameter, std::string_view where) {
  const Json& given = member(parameter, "Values");
  if (!given.is_string() && !given.is_array()) {
    refuse(where, "'Values' must be a string with a Python list, such as \"[1, 2, 4]\"");
  }
  const std::string place = fmt::format("{}.Values", where);
  const std::vector<Json> list = given.is_array() ? given.get<std::vector<Json>>()
                                                  : python_list(given.get<std::string>(), place);
  Json values = Json::array();
  std::set<std::string> seen;
  for (const Json& value : list) {
    Json taken = space_value(value, place);
    if (seen.insert(taken.dump()).second) values.push_back(std::move(taken));
  }
  if (values.empty()) refuse(place, "has no value");
  return values;
}

/// The stated default where it is one of the values, else the first of them.
Json default_of(const Json& parameter, const Json& values) {
  Json stated = member(parameter, "Default");
  if (stated.is_array() && stated.size() == 1) stated = Json(stated.front());
  return std::ranges::find(values, stated) == values.end() ? Json(values.front()) : stated;
}

Json read_parameters(const Json& list, std::string_view origin) {
  Json parameters = Json::object();
  for (const Json& parameter : list) {
    const std::string name = text_member(parameter, "Name");
    const std::string where =
        fmt::format("{}: TuningParameters[{}] ({})", origin, parameters.size(), name);
    if (name.empty()) refuse(where, "'Name' is missing");
    if (parameters.contains(name)) refuse(where, "the name appears twice");
    const Json values = values_of(parameter, where);
    parameters[name] = {
        {"values", values}, {"default", default_of(parameter, values)}, {"kind", "define"}};
  }
  if (parameters.empty()) refuse(origin, "ConfigurationSpace.TuningParameters is missing or empty");
  return parameters;
}

/// The condition as a constraint. What the two languages do not share is refused by name.
Json read_condition(const Json& condition, std::size_t index,
                    const space::SpaceDefinition& definition, std::string_view origin) {
  const std::string where = fmt::format("{}: Conditions[{}]", origin, index);
  const std::string text = text_member(condition, "Expression");
  if (text.empty()) refuse(where, "'Expression' is missing");
  const auto compiled = space::Expression::compile(text, definition.scope);
  if (!compiled) {
    refuse(where, fmt::format("cannot be expressed in a space file: {}",
                              compiled.error().with_caret(text)));
  }
  return {{"expr", text}, {"why", fmt::format("condition {} of the T1 file", index + 1)}};
}

/// Told without listing the space, which may be larger than can be listed.
bool is_default_valid(const space::SpaceDefinition& definition) {
  space::ExpressionValues values(definition.scope.size(), 0);
  for (const space::Parameter& parameter : definition.parameters) {
    values[parameter.slot] = parameter.values[parameter.default_index].number;
  }
  return std::ranges::all_of(definition.constraints, [&](const space::Constraint& constraint) {
    const auto holds = constraint.expression.evaluate(values);
    return holds && *holds != 0;
  });
}

std::size_t differing(const space::Config& a, const space::Config& b) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < a.choice.size(); ++i) {
    if (a.choice[i] != b.choice[i]) ++count;
  }
  return count;
}

/// Of the valid configurations, or an even sample of very many, that with the fewest changes.
space::Config nearest_valid(const space::Space& space) {
  constexpr std::uint64_t kMostLookedAt = std::uint64_t{1} << 18;
  const space::Config wanted = space.default_config();
  const std::uint64_t stride = space.size() / kMostLookedAt + 1;
  space::Config nearest = space.at(0);
  for (std::uint64_t at = 0; at < space.size(); at += stride) {
    space::Config candidate = space.at(at);
    if (differing(candidate, wanted) < differing(nearest, wanted)) nearest = std::move(candidate);
  }
  return nearest;
}

}  // namespace

T1Space read_t1_space(const Json& t1, std::string_view origin,
                      const space::DeviceAttributes& device) {
  const Json& space = member(t1, "ConfigurationSpace");
  T1Space result;
  result.parameters = read_parameters(member(space, "TuningParameters"), origin);
  result.constraints = Json::array();
  const std::string where = fmt::format("{}: ConfigurationSpace", origin);
  const space::SpaceDefinition unconstrained =
      space::parse_space_definition({{"parameters", result.parameters}}, {}, where);
  for (const Json& condition : member(space, "Conditions")) {
    result.constraints.push_back(
        read_condition(condition, result.constraints.size(), unconstrained, origin));
  }
  const auto definition =
      std::make_shared<const space::SpaceDefinition>(space::parse_space_definition(
          {{"parameters", result.parameters}, {"constraints", result.constraints}}, {}, where));
  if (is_default_valid(*definition)) return result;
  const space::Space bound(definition, device, {});
  if (bound.size() == 0) {
    throw Error(ErrorCode::no_valid_config,
                fmt::format("{}: the conditions leave no configuration", origin));
  }
  const space::Config valid = nearest_valid(bound);
  for (std::size_t i = 0; i < valid.choice.size(); ++i) {
    const space::Parameter& parameter = definition->parameters[i];
    if (valid.choice[i] == parameter.default_index) continue;
    result.parameters[parameter.name]["default"] =
        result.parameters[parameter.name]["values"][valid.choice[i]];
    result.changed_defaults.push_back(
        fmt::format("{}={}", parameter.name, parameter.values[valid.choice[i]].text));
  }
  return result;
}

}  // namespace tuner::interop
