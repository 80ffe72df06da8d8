// SPDX-License-Identifier: Apache-2.0
// Configurations as text.
#include "tuner/core/error.hpp"
#include "tuner/core/suggest.hpp"
#include "tuner/space/space.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>
#include <set>

namespace tuner::space {
namespace {

std::uint32_t value_index(const Parameter& parameter, std::string_view text) {
  std::vector<std::string> known;
  for (const ParameterValue& value : parameter.values) {
    if (value.text == text) return static_cast<std::uint32_t>(known.size());
    known.push_back(value.text);
  }
  constexpr std::size_t kMostListed = 16;
  const std::string listed = known.size() <= kMostListed
                                 ? fmt::format(" (known: {})", fmt::join(known, ", "))
                                 : did_you_mean(text, known);
  throw Error(ErrorCode::usage,
              fmt::format("parameter {} has no value '{}'{}", parameter.name, text, listed));
}

/// ", as in TILE=64"; empty where there is no parameter.
std::string example_of(const SpaceDefinition& definition) {
  if (definition.parameters.empty()) return "";
  const Parameter& first = definition.parameters.front();
  return fmt::format(", as in {}={}", first.name, first.values[first.default_index].text);
}

Config all_defaults(const SpaceDefinition& definition) {
  Config config;
  for (const Parameter& parameter : definition.parameters) {
    config.choice.push_back(static_cast<std::uint32_t>(parameter.default_index));
  }
  return config;
}

}  // namespace

std::string canonical_json(const SpaceDefinition& definition, const Config& config) {
  std::map<std::string_view, std::string> members;
  for (std::size_t i = 0; i < definition.parameters.size(); ++i) {
    const Parameter& parameter = definition.parameters[i];
    const std::string& text = parameter.values[config.choice[i]].text;
    // Words are identifiers, so they need no escapes.
    members[parameter.name] =
        parameter.value_kind == ValueKind::word ? fmt::format("\"{}\"", text) : text;
  }
  std::string json = "{";
  for (const auto& [name, value] : members) {
    json += fmt::format("{}\"{}\":{}", json.size() > 1 ? "," : "", name, value);
  }
  return json + "}";
}

Config config_from_json(const SpaceDefinition& definition, std::string_view json) {
  const Json object = parse_json(json, "configuration");
  if (!object.is_object()) {
    throw Error(ErrorCode::usage, "configuration: must be a JSON object such as {\"BM\":64}");
  }
  Config config = all_defaults(definition);
  for (const auto& [name, value] : object.items()) {
    const std::size_t p = definition.parameter_index(name);
    config.choice[p] = value_index(definition.parameters[p],
                                   value.is_string() ? value.get<std::string>() : value.dump());
  }
  return config;
}

Config config_from_text(const SpaceDefinition& definition, std::string_view text) {
  constexpr std::string_view kSeparators = ", \t\n";
  Config config = all_defaults(definition);
  std::set<std::size_t> given;
  for (std::size_t at = text.find_first_not_of(kSeparators); at != std::string_view::npos;) {
    const std::size_t end = std::min(text.find_first_of(kSeparators, at), text.size());
    const std::string_view item = text.substr(at, end - at);
    const std::size_t equals = item.find('=');
    if (equals == std::string_view::npos) {
      throw Error(ErrorCode::usage, fmt::format("'{}' is not of the form PARAMETER=VALUE{}", item,
                                                example_of(definition)));
    }
    const std::size_t p = definition.parameter_index(item.substr(0, equals));
    if (!given.insert(p).second) {
      throw Error(ErrorCode::usage,
                  fmt::format("parameter {} is given twice", item.substr(0, equals)));
    }
    config.choice[p] = value_index(definition.parameters[p], item.substr(equals + 1));
    at = text.find_first_not_of(kSeparators, end);
  }
  return config;
}

std::string display(const SpaceDefinition& definition, const Config& config) {
  std::string text;
  for (std::size_t i = 0; i < definition.parameters.size(); ++i) {
    const Parameter& parameter = definition.parameters[i];
    if (parameter.values.size() == 1) continue;
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", parameter.name,
                        parameter.values[config.choice[i]].text);
  }
  return text;
}

void restrict_parameter(SpaceDefinition& definition, std::string_view parameter,
                        std::span<const std::string> values) {
  Parameter& target = definition.parameters[definition.parameter_index(parameter)];
  if (values.empty()) {
    throw Error(ErrorCode::usage, fmt::format("parameter {} needs at least one value", parameter));
  }
  std::set<std::size_t> kept;
  for (const std::string& value : values) kept.insert(value_index(target, value));
  std::vector<ParameterValue> remaining;
  std::size_t new_default = 0;
  for (const std::size_t index : kept) {
    if (index == target.default_index) new_default = remaining.size();
    remaining.push_back(target.values[index]);
  }
  target.values = std::move(remaining);
  target.default_index = new_default;
}

}  // namespace tuner::space
