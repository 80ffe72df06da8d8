// SPDX-License-Identifier: Apache-2.0
#include "tuner/interop/recording_builder.hpp"

#include "tuner/core/error.hpp"
#include "tuner/core/printable.hpp"
#include "tuner/interop/python_value.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <set>

namespace tuner::interop {
namespace {

constexpr std::size_t kMostParameters = 64;

space::Parameter parameter_of(const std::string& name, std::span<const Json> values,
                              space::Scope& scope) {
  space::Parameter parameter;
  parameter.name = name;
  const bool numbers = std::ranges::all_of(values, [](const Json& value) {
    const bool fits = !value.is_number_unsigned() || value.get<std::uint64_t>() <= INT64_MAX;
    return value.is_boolean() || (value.is_number_integer() && fits);
  });
  parameter.value_kind = numbers ? space::ValueKind::number : space::ValueKind::word;
  for (const Json& value : values) {
    const std::string text = python_text(value);
    std::int64_t number = 0;
    if (!numbers) {
      number = scope.intern(text);
    } else {
      number = value.is_boolean() ? static_cast<std::int64_t>(value.get<bool>())
                                  : value.get<std::int64_t>();
    }
    parameter.values.push_back({number, text});
  }
  parameter.slot = scope.declare(name, parameter.value_kind);
  return parameter;
}

}  // namespace

RecordingBuilder::RecordingBuilder(std::vector<std::string> names, std::string origin)
    : names_(std::move(names)), origin_(std::move(origin)), values_(names_.size()) {
  if (names_.size() > kMostParameters) {
    refuse(fmt::format("{} parameters; at most {} are possible", names_.size(), kMostParameters));
  }
  std::set<std::string> seen;
  for (const std::string& name : names_) {
    if (name.empty() || printable(name) != name || name.find('\n') != std::string::npos ||
        name.starts_with("dev.")) {
      refuse(fmt::format("'{}' is not the name of a parameter", name));
    }
    if (!seen.insert(name).second) refuse(fmt::format("the parameter '{}' appears twice", name));
  }
}

void RecordingBuilder::refuse(std::string_view why) const {
  throw Error(ErrorCode::usage, fmt::format("{}: {}", origin_, why));
}

void RecordingBuilder::list_values(std::size_t parameter, const Json& values) {
  if (!values.is_array()) {
    refuse(fmt::format("the values of {} must be a list, not {}", names_[parameter],
                       values.type_name()));
  }
  for (const Json& value : values) static_cast<void>(value_index(parameter, value));
  values_[parameter].listed = !values.empty();
}

std::uint32_t RecordingBuilder::value_index(std::size_t parameter, const Json& value) {
  Values& values = values_[parameter];
  if (value.is_structured()) {
    refuse(fmt::format("a value of {} is {}; it must be a number, a boolean or a string",
                       names_[parameter], value.is_array() ? "a list" : "an object"));
  }
  const std::string text = python_text(value);
  const auto next = static_cast<std::uint32_t>(values.json.size());
  const auto [known, is_new] = values.index.try_emplace(text, next);
  if (is_new) {
    if (printable(text) != text || text.find('\n') != std::string::npos) {
      refuse(fmt::format("a value of {} holds a control character", names_[parameter]));
    }
    values.json.push_back(value);
  }
  return known->second;
}

void RecordingBuilder::add(std::span<const Json> values, const RecordedResult& result) {
  RecordedTrial trial{
      .config = {}, .outcome = result.outcome, .time_ms = result.time_ms, .cost_s = result.cost_s};
  std::string key;
  for (std::size_t i = 0; i < names_.size(); ++i) {
    trial.config.choice.push_back(value_index(i, values[i]));
    key += fmt::format("{},", trial.config.choice.back());
  }
  const auto [known, is_new] = trial_of_.try_emplace(key, trials_.size());
  if (is_new) {
    trials_.push_back(std::move(trial));
  } else {
    trials_[known->second] = std::move(trial);
  }
}

void RecordingBuilder::sort_values(std::size_t parameter) {
  std::vector<Json>& json = values_[parameter].json;
  const bool numbers =
      std::ranges::all_of(json, [](const Json& value) { return value.is_number(); });
  if (values_[parameter].listed || !numbers) return;
  std::vector<std::uint32_t> order(json.size());
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::stable_sort(order, [&](std::uint32_t a, std::uint32_t b) {
    return json[a].get<double>() < json[b].get<double>();
  });
  std::vector<Json> sorted;
  std::vector<std::uint32_t> place(order.size());
  for (const std::uint32_t old : order) {
    place[old] = static_cast<std::uint32_t>(sorted.size());
    sorted.push_back(std::move(json[old]));
  }
  json = std::move(sorted);
  for (RecordedTrial& trial : trials_) {
    trial.config.choice[parameter] = place[trial.config.choice[parameter]];
  }
}

space::SpaceDefinition RecordingBuilder::definition() const {
  space::SpaceDefinition definition;
  definition.scope = space::family_scope({});
  for (std::size_t i = 0; i < names_.size(); ++i) {
    definition.parameters.push_back(parameter_of(names_[i], values_[i].json, definition.scope));
  }
  return definition;
}

Recording RecordingBuilder::take() {
  if (trials_.empty()) refuse("holds no configuration that was measured");
  for (std::size_t i = 0; i < names_.size(); ++i) sort_values(i);
  Recording recording;
  recording.definition = std::make_shared<const space::SpaceDefinition>(definition());
  recording.trials = std::move(trials_);
  return recording;
}

}  // namespace tuner::interop
