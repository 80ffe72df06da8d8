// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/earlier_winners.hpp"

#include "tuner/core/error.hpp"
#include "tuner/select/nearness.hpp"

#include <algorithm>
#include <utility>

namespace tuner::session {
namespace {

/// A stored configuration; none when the space has changed since and no longer has it.
std::optional<space::Config> config_of(const std::string& config_json,
                                       const family::Kernel& kernel) {
  try {
    return space::config_from_json(*kernel.space, config_json);
  } catch (const Error&) {
    return std::nullopt;
  }
}

void add_once(std::vector<space::Config>& configs, const space::Config& config) {
  if (std::ranges::find(configs, config) == configs.end()) configs.push_back(config);
}

}  // namespace

std::optional<space::Config> incumbent(const store::Store& store, const family::Family& family,
                                       const family::Kernel& kernel,
                                       const space::DeviceInfo& device, const space::Size& size) {
  const auto bests = store.bests({.device = device.name,
                                  .family = family.name,
                                  .kernel = kernel.name,
                                  .problem = space::canonical_size(size, family.problem.dims)});
  for (const store::StoredBest& stored : bests) {
    if (stored.subject->device.backend != device.backend) continue;
    if (auto config = config_of(stored.best.config_json, kernel)) return config;
  }
  return std::nullopt;
}

EarlierWinners::EarlierWinners(const store::Store& store, const family::Family& family,
                               const family::Kernel& kernel, const space::DeviceInfo& device,
                               std::span<const select::ShippedWinner> shipped)
    : dims_(family.problem.dims) {
  const auto add = [&](bool on_this_model, bool is_stored, const std::string& problem,
                       const std::string& config_json) {
    auto config = config_of(config_json, kernel);
    auto size = space::stored_size(problem, dims_);
    if (!config || !size) return;
    winners_.push_back({.on_this_model = on_this_model,
                        .is_incumbent = on_this_model && is_stored,
                        .size = *std::move(size),
                        .config = *std::move(config)});
  };
  for (const store::StoredBest& stored :
       store.bests({.family = family.name, .kernel = kernel.name})) {
    const space::DeviceInfo& its = stored.subject->device;
    if (its.backend != device.backend) continue;
    add(its.name == device.name, true, stored.best.problem, stored.best.config_json);
  }
  for (const select::ShippedWinner& winner : shipped) {
    if (winner.kernel != kernel.name) continue;
    add(winner.device == device.name, false, winner.problem, winner.config_json);
  }
}

std::vector<space::Config> EarlierWinners::at_size(const space::Size& size) const {
  std::vector<space::Config> configs;
  for (const bool on_this_model : {true, false}) {
    for (const Winner& winner : winners_) {
      if (winner.on_this_model != on_this_model || winner.is_incumbent || winner.size != size) {
        continue;
      }
      add_once(configs, winner.config);
    }
  }
  return configs;
}

std::vector<space::Config> EarlierWinners::anywhere(const space::Size& size) const {
  constexpr std::size_t kMost = 8;
  using Distance = std::pair<bool, select::Nearness>;
  std::vector<std::pair<Distance, const space::Config*>> by_distance;
  for (const Winner& winner : winners_) {
    auto distance = select::nearness(size, winner.size, dims_);
    if (!distance) continue;
    by_distance.emplace_back(Distance{!winner.on_this_model, *std::move(distance)}, &winner.config);
  }
  std::ranges::stable_sort(by_distance, {},
                           [](const auto& it) -> const Distance& { return it.first; });
  std::vector<space::Config> configs;
  for (const auto& [distance, config] : by_distance) {
    if (configs.size() == kMost) break;
    add_once(configs, *config);
  }
  return configs;
}

}  // namespace tuner::session
