// SPDX-License-Identifier: Apache-2.0
#include "tuner/space/definition.hpp"

#include "tuner/core/error.hpp"
#include "tuner/core/file_errors.hpp"
#include "tuner/core/suggest.hpp"
#include "tuner/space/device.hpp"
#include "tuner/space/parameter.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>

namespace tuner::space {
namespace {

constexpr std::size_t kMostParameters = 64;

/// A new name of the file: well-formed and not taken.
void check_name(const std::string& name, const SpaceDefinition& definition,
                std::string_view where) {
  if (!is_name(name)) {
    refuse(where,
           is_word(name)
               ? fmt::format("'{}' is a keyword of the expression language", name)
               : fmt::format("'{}' is not a name: at most 64 letters, digits and underscores, "
                             "not beginning with a digit",
                             name));
  }
  if (definition.scope.find(name) == nullptr) return;
  const bool is_dimension = definition.dims.find(name).has_value();
  refuse(where, fmt::format("the name '{}' is already taken by a {}", name,
                            is_dimension ? "dimension of the problem" : "parameter"));
}

const Json& object_member(const Json& kernel, const std::string& key, std::string_view where) {
  static const Json none = Json::object();
  if (!kernel.contains(key)) return none;
  if (!kernel[key].is_object()) {
    refuse(fmt::format("{}.{}", where, key),
           fmt::format("must be an object, not {}", kernel[key].type_name()));
  }
  return kernel[key];
}

std::vector<std::string> keys_of(const Json& object) {
  std::vector<std::string> keys;
  for (const auto& [key, value] : object.items()) keys.push_back(key);
  return keys;
}

/// Declares a name whose declaration is wrong, so that what uses it is not called wrong, too.
void declare_anyway(const std::string& name, SpaceDefinition& definition) {
  if (is_name(name) && definition.scope.find(name) == nullptr) definition.scope.declare(name);
}

Expression parse_default_at(const Json& json, const Parameter& parameter, const Dimensions& dims,
                            std::string_view where) {
  if (parameter.value_kind == ValueKind::word) refuse(where, "is only for numbers");
  if (parameter.when) refuse(where, "is not for a parameter with 'when', which has one default");
  return compile_number(json, family_scope(dims), {}, where);
}

void parse_parameters(const Json& kernel, SpaceDefinition& definition, std::string_view where) {
  const Json& parameters = object_member(kernel, "parameters", where);
  if (parameters.size() > kMostParameters) {
    refuse(
        fmt::format("{}.parameters", where),
        fmt::format("{} parameters; at most {} are possible", parameters.size(), kMostParameters));
  }
  std::vector<std::string> later = keys_of(parameters);
  const std::vector<std::string> derived = keys_of(object_member(kernel, "derived", where));
  later.insert(later.end(), derived.begin(), derived.end());
  ErrorCollector errors;
  for (const auto& [name, json] : parameters.items()) {
    const std::string place = fmt::format("{}.parameters.{}", where, name);
    const bool is_right = errors.attempt([&] {
      check_name(name, definition, place);
      Parameter parameter = parse_parameter(name, json, definition.scope, later, place);
      if (json.contains("default_at")) {
        parameter.default_at = parse_default_at(json["default_at"], parameter, definition.dims,
                                                fmt::format("{}.default_at", place));
      }
      parameter.slot = definition.scope.declare(name, parameter.value_kind);
      definition.parameters.push_back(std::move(parameter));
    });
    if (!is_right) declare_anyway(name, definition);
  }
  errors.throw_any();
}

void parse_derived(const Json& kernel, SpaceDefinition& definition, std::string_view where) {
  const Json& derived = object_member(kernel, "derived", where);
  const std::vector<std::string> later = keys_of(derived);
  ErrorCollector errors;
  for (const auto& [name, json] : derived.items()) {
    const std::string place = fmt::format("{}.derived.{}", where, name);
    const bool is_right = errors.attempt([&] {
      check_name(name, definition, place);
      Expression expression = compile_number(json, definition.scope, later, place);
      const std::size_t slot = definition.scope.declare(name);
      definition.derived.push_back({name, std::move(expression), slot});
    });
    if (!is_right) declare_anyway(name, definition);
  }
  errors.throw_any();
}

void parse_constraints(const Json& kernel, SpaceDefinition& definition, std::string_view where) {
  if (!kernel.contains("constraints")) return;
  static const std::array<std::string, 2> keys = {"expr", "why"};
  const Json& constraints = kernel["constraints"];
  const std::string list = fmt::format("{}.constraints", where);
  if (!constraints.is_array()) {
    refuse(list, fmt::format("must be a list, not {}", constraints.type_name()));
  }
  ErrorCollector errors;
  for (std::size_t i = 0; i < constraints.size(); ++i) {
    errors.attempt([&] {
      const Json& json = constraints[i];
      const std::string place = fmt::format("{}[{}]", list, i);
      expect_object(json, keys, place);
      if (!json.contains("expr")) refuse(place, "'expr' is missing");
      std::string why = string_member(json, "why", place);
      definition.constraints.push_back(
          {compile_number(json["expr"], definition.scope, {}, fmt::format("{}.expr", place)),
           std::move(why)});
    });
  }
  errors.throw_any();
}

}  // namespace

std::size_t SpaceDefinition::parameter_index(std::string_view name) const {
  std::vector<std::string> names;
  for (const Parameter& parameter : parameters) {
    if (parameter.name == name) return names.size();
    names.push_back(parameter.name);
  }
  throw Error(ErrorCode::usage,
              fmt::format("unknown parameter '{}'{}", name, did_you_mean(name, names)));
}

Scope family_scope(const Dimensions& dims) {
  Scope scope;
  for (const AttributeField& field : attribute_fields()) {
    scope.declare(fmt::format("dev.{}", field.name));
  }
  for (const Dimension& dim : dims) declare_dimension(scope, dim);
  return scope;
}

SpaceDefinition parse_space_definition(const Json& kernel, const Dimensions& dims,
                                       std::string_view where) {
  if (!kernel.is_object()) {
    refuse(where, fmt::format("must be an object, not {}", kernel.type_name()));
  }
  SpaceDefinition definition;
  definition.scope = family_scope(dims);
  definition.dims = dims;
  ErrorCollector errors;
  for (const auto parse : {parse_parameters, parse_derived, parse_constraints}) {
    errors.attempt([&] { parse(kernel, definition, where); });
  }
  errors.throw_any();
  return definition;
}

}  // namespace tuner::space
