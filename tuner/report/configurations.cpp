// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/configurations.hpp"

#include "tuner/core/error.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <utility>

namespace tuner::report {

Json tolerant_object(std::string_view text) {
  try {
    const Json parsed = parse_json(text, "a stored text");
    return parsed.is_object() ? parsed : Json::object();
  } catch (const Error&) {
    return Json::object();
  }
}

const Json* member(const Json& object, const std::string& key) {
  const auto found = object.find(key);  // the end when it is no object
  return found == object.end() ? nullptr : &*found;
}

namespace {

std::string text_of(const Json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

}  // namespace

std::uint32_t Configurations::add(std::int64_t id, std::string_view config_json) {
  const auto [found, is_new] =
      numbers_.try_emplace(id, static_cast<std::uint32_t>(configs_.size()));
  if (!is_new) return found->second;
  std::vector<std::uint32_t>& places = configs_.emplace_back(parameters_.size());
  const Json config = tolerant_object(config_json);
  for (const auto& [name, value] : config.items()) {
    const std::size_t at = parameter_named(name);
    Parameter& parameter = parameters_[at];
    const std::string text = text_of(value);
    const auto next = static_cast<std::uint32_t>(parameter.values.size());
    const auto [place, is_new_value] = parameter.places.try_emplace(text, next);
    if (is_new_value) parameter.values.push_back(text);
    places.resize(parameters_.size());
    places[at] = place->second;
  }
  return found->second;
}

std::size_t Configurations::parameter_named(const std::string& name) {
  const auto found = std::ranges::find(parameters_, name, &Parameter::name);
  const auto at = static_cast<std::size_t>(found - parameters_.begin());
  if (at == parameters_.size()) parameters_.push_back({.name = name});
  return at;
}

std::optional<std::uint32_t> Configurations::find(std::int64_t id) const {
  const auto found = numbers_.find(id);
  if (found == numbers_.end()) return std::nullopt;
  return found->second;
}

std::vector<std::string> Configurations::parameters() const {
  std::vector<std::string> names;
  for (const Parameter& parameter : parameters_) names.push_back(parameter.name);
  return names;
}

void Configurations::order(const std::vector<std::string>& parameters) {
  std::vector<std::size_t> sources;
  for (const std::string& name : parameters) sources.push_back(parameter_named(name));
  for (std::vector<std::uint32_t>& places : configs_) {
    places.resize(parameters_.size());
    std::vector<std::uint32_t> ordered;
    ordered.reserve(sources.size());
    for (const std::size_t source : sources) ordered.push_back(places[source]);
    places = std::move(ordered);
  }
  std::vector<Parameter> ordered;
  for (const std::size_t source : sources) ordered.push_back(std::move(parameters_[source]));
  parameters_ = std::move(ordered);
}

ConfigValues Configurations::values(std::uint32_t config) const {
  ConfigValues values;
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    values.push_back(value_at(i, place(config, i)));
  }
  return values;
}

ConfigValues config_values(const std::vector<std::string>& parameters,
                           std::string_view config_json) {
  const Json config = tolerant_object(config_json);
  ConfigValues values;
  for (const std::string& parameter : parameters) {
    const Json* value = member(config, parameter);
    values.push_back(value == nullptr ? "" : text_of(*value));
  }
  return values;
}

std::string config_text(const std::vector<std::string>& parameters, const ConfigValues& values) {
  std::string text;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (values[i].empty()) continue;
    if (!text.empty()) text += ',';
    text += parameters[i] + '=' + values[i];
  }
  return text;
}

}  // namespace tuner::report
