// SPDX-License-Identifier: Apache-2.0
#include "tuner/core/suggest.hpp"
#include "tuner/space/dimensions.hpp"
#include "tuner/space/parameter.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <utility>

namespace tuner::space {
namespace {

constexpr std::size_t kMostDimensions = 16;
constexpr std::size_t kMostDimensionValues = 64;

const Json& list_member(const Json& object, const std::string& key, std::string_view where,
                        std::size_t most) {
  const Json& list = object[key];
  const std::string place = fmt::format("{}.{}", where, key);
  if (!list.is_array()) refuse(place, fmt::format("must be an array, is a {}", list.type_name()));
  if (list.empty()) refuse(place, "must have at least 1 element, has 0");
  if (list.size() > most) {
    refuse(place, fmt::format("must have at most {} elements, has {}", most, list.size()));
  }
  return list;
}

std::vector<std::int64_t> parse_values(const Json& dimension, std::string_view where) {
  std::vector<std::int64_t> values;
  if (!dimension.contains("values")) return values;
  for (const Json& json : list_member(dimension, "values", where, kMostDimensionValues)) {
    const std::string place = fmt::format("{}.values[{}]", where, values.size());
    if (!json.is_number_integer() || json < 0 || json > kLargestDimension) {
      refuse(place,
             fmt::format("must be an integer in 0 … {}, is {}", kLargestDimension, json.dump()));
    }
    const auto value = json.get<std::int64_t>();
    if (std::ranges::find(values, value) != values.end()) {
      refuse(place, fmt::format("the value {} appears twice", value));
    }
    values.push_back(value);
  }
  return values;
}

std::string dimension_name(const Json& json, std::string_view where) {
  if (!json.is_string()) refuse(where, fmt::format("must be a name, is a {}", json.type_name()));
  auto name = json.get<std::string>();
  if (is_name(name)) return name;
  refuse(where, is_word(name) ? fmt::format("'{}' is a reserved word of expressions", name)
                              : fmt::format("{} is not a name: a name is a letter or _ followed by "
                                            "at most 63 letters, digits or _",
                                            json.dump()));
}

ElementType element_type(const Json& json, std::string_view where) {
  const std::string name = json.is_string() ? json.get<std::string>() : json.dump();
  if (const auto type = element_type_from_name(name)) return *type;
  std::vector<std::string> known;
  for (const ElementType type : kElementTypes) known.emplace_back(row(type).short_name);
  refuse(where, fmt::format("unknown type {}{}", in_quotes(name), did_you_mean(name, known)));
}

/// {"f32": {"A": "f32", …}, "bf16": {…}}: the names of the values, and what A is at each.
void parse_types(const Json& json, std::string_view where, Dimension& dimension) {
  if (!dimension.values.empty()) refuse(where, "has both 'values' and 'types': take one");
  const Json& types = json["types"];
  const std::string place = fmt::format("{}.types", where);
  if (!types.is_object() || types.empty()) {
    refuse(place, "must be an object: the name of each choice with its types by their names");
  }
  if (types.size() > kMostDimensionValues) {
    refuse(place, fmt::format("must have at most {} members", kMostDimensionValues));
  }
  for (const auto& [name, choice] : types.items()) {
    const std::string at = fmt::format("{}.{}", place, name);
    if (!is_word(name)) refuse(place, fmt::format("{} is not a name", in_quotes(name)));
    if (!choice.is_object() || choice.empty()) refuse(at, "must be an object of types by name");
    for (const auto& [of, type] : choice.items()) {
      if (!is_word(of)) refuse(at, fmt::format("{} is not a name", in_quotes(of)));
      std::vector<ElementType>& all = dimension.types[of];
      if (all.size() != dimension.values.size()) {
        refuse(at, fmt::format("has a type '{}', which a choice before it does not have", of));
      }
      all.push_back(element_type(type, fmt::format("{}.{}", at, of)));
    }
    dimension.values.push_back(static_cast<std::int64_t>(dimension.values.size()));
    dimension.value_names.push_back(name);
    for (const auto& [of, all] : dimension.types) {
      if (all.size() == dimension.values.size()) continue;
      refuse(at, fmt::format("lacks the type '{}', which another choice has", of));
    }
  }
}

/// A dimension of types always has a default, so that sizes from before it stay what they were.
Expression default_type(const Json& json, std::string_view where, const Dimension& dimension) {
  const std::string place = fmt::format("{}.default", where);
  if (!json.contains("default") || !json["default"].is_string()) {
    refuse(place,
           fmt::format("must be one of the types: {}", fmt::join(dimension.value_names, ", ")));
  }
  const auto name = json["default"].get<std::string>();
  const auto value = dimension.value_of(name);
  if (value) return Expression::constant(*value);
  refuse(place, fmt::format("is no type of '{}'{}", dimension.name,
                            did_you_mean(name, dimension.value_names)));
}

/// Reads the dimensions one after the other: each may use those before it.
class DimensionReader {
 public:
  DimensionReader(const Json& dims, std::string_view where) : where_(where) {
    for (const Json& json : dims) {
      const std::string place = fmt::format("{}[{}]", where_, later_.size());
      later_.push_back(name_of(json, place));
    }
    for (const Json& json : dims) add(json);
  }

  [[nodiscard]] std::vector<Dimension> take() { return std::move(dimensions_); }
  [[nodiscard]] const Scope& scope() const { return scope_; }

 private:
  static std::string name_of(const Json& json, const std::string& place) {
    if (!json.is_object()) return dimension_name(json, place);
    static const std::array<std::string, 5> keys = {"name", "default", "values", "types", "doc"};
    expect_object(json, keys, place);
    if (!json.contains("name")) refuse(place, "'name' is missing");
    return dimension_name(json["name"], place + ".name");
  }

  [[nodiscard]] Expression default_value(const Json& json, const std::string& place) const {
    if (!json.is_number_integer()) return compile_number(json, scope_, later_, place);
    if (json > kLargestDimension)
      refuse(place, fmt::format("{} is above {}", json.dump(), kLargestDimension));
    return Expression::constant(json.get<std::int64_t>());
  }

  void add(const Json& json) {
    const std::string place = fmt::format("{}[{}]", where_, dimensions_.size());
    Dimension dimension{.name = later_.front()};
    if (scope_.find(dimension.name) != nullptr) {
      refuse(place, fmt::format("the dimension '{}' appears twice", dimension.name));
    }
    if (json.is_object() && json.contains("types") &&
        std::ranges::any_of(dimensions_,
                            [](const Dimension& each) { return !each.types.empty(); })) {
      refuse(place, "a problem has one dimension of types");
    }
    if (json.is_object()) {
      if (json.contains("doc")) dimension.doc = string_member(json, "doc", place);
      dimension.values = parse_values(json, place);
      if (json.contains("types")) parse_types(json, place, dimension);
      if (!dimension.types.empty()) {
        dimension.default_value = default_type(json, place, dimension);
      } else if (json.contains("default")) {
        dimension.default_value = default_value(json["default"], place + ".default");
      }
    }
    if (!dimension.default_value && !dimensions_.empty() && dimensions_.back().default_value) {
      refuse(place,
             fmt::format(
                 "'{}' has no default, but '{}' before it has one: required dimensions come first",
                 dimension.name, dimensions_.back().name));
    }
    declare_dimension(scope_, dimension);
    later_.erase(later_.begin());
    dimensions_.push_back(std::move(dimension));
  }

  std::string where_;
  Scope scope_;                     // a dimension's slot is its place in a size
  std::vector<std::string> later_;  // the name of the next and those after it
  std::vector<Dimension> dimensions_;
};

/// A default that is a number must be one that the dimension can have.
void check_constant_defaults(const Dimensions& dimensions, std::string_view where) {
  for (std::size_t i = 0; i < dimensions.size(); ++i) {
    const auto& expression = dimensions[i].default_value;
    if (!expression || !expression->slots().empty()) continue;
    const std::string place = fmt::format("{}[{}].default", where, i);
    const auto value = expression->evaluate({});
    if (!value) refuse(place, fmt::format("has no value ({})", name(value.error())));
    if (const auto why = dimensions.refusal(i, *value)) refuse(place, *why);
  }
}

std::vector<Constraint> parse_size_constraints(const Json& problem, const Scope& scope,
                                               std::string_view where) {
  constexpr std::size_t kMostConstraints = 64;
  static const std::array<std::string, 2> keys = {"expr", "why"};
  std::vector<Constraint> constraints;
  if (!problem.contains("constraints")) return constraints;
  for (const Json& json : list_member(problem, "constraints", where, kMostConstraints)) {
    const std::string place = fmt::format("{}.constraints[{}]", where, constraints.size());
    expect_object(json, keys, place);
    if (!json.contains("expr")) refuse(place, "'expr' is missing");
    std::string why = string_member(json, "why", place);
    constraints.push_back(
        {compile_number(json["expr"], scope, {}, place + ".expr"), std::move(why)});
  }
  return constraints;
}

}  // namespace

Dimensions parse_dimensions(const Json& problem, std::string_view where) {
  if (!problem.is_object()) {
    refuse(where, fmt::format("must be an object, is a {}", problem.type_name()));
  }
  if (!problem.contains("dims")) refuse(where, "the key \"dims\" is missing");
  const std::string list = fmt::format("{}.dims", where);
  DimensionReader reader(list_member(problem, "dims", where, kMostDimensions), list);
  std::vector<Constraint> constraints = parse_size_constraints(problem, reader.scope(), where);
  Dimensions dimensions(reader.take(), std::move(constraints));
  check_constant_defaults(dimensions, list);
  return dimensions;
}

}  // namespace tuner::space
