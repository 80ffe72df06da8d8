// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/earlier_winners.hpp"

#include "tuner/core/error.hpp"
#include "tuner/select/nearness.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

namespace tuner::session {
namespace {

/// How many winners of other sizes are of use at a size.
constexpr std::size_t kMostNear = 8;

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
    : family_(family), kernel_(kernel), device_(device) {
  const auto add = [&](bool on_this_model, bool is_stored, const std::string& problem,
                       const std::string& config_json) {
    auto config = config_of(config_json, kernel);
    auto size = space::stored_size(problem, family.problem.dims);
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

std::vector<const EarlierWinners::Winner*> EarlierWinners::by_distance(
    const space::Size& size) const {
  using Distance = std::pair<bool, select::Nearness>;
  std::vector<std::pair<Distance, const Winner*>> found;
  for (const Winner& winner : winners_) {
    auto distance = select::nearness(size, winner.size, family_.problem.dims);
    if (!distance) continue;
    found.emplace_back(Distance{!winner.on_this_model, *std::move(distance)}, &winner);
  }
  std::ranges::stable_sort(found, {}, [](const auto& it) -> const Distance& { return it.first; });
  std::vector<const Winner*> winners;
  for (const auto& [distance, winner] : found) winners.push_back(winner);
  return winners;
}

std::vector<space::Config> EarlierWinners::anywhere(const space::Size& size) const {
  std::vector<space::Config> configs;
  for (const Winner* const winner : by_distance(size)) {
    if (configs.size() == kMostNear) break;
    add_once(configs, winner->config);
  }
  return configs;
}

std::vector<EarlierWinner> EarlierWinners::near(const space::Size& size) const {
  std::vector<EarlierWinner> winners;
  for (const Winner* const winner : by_distance(size)) {
    if (winners.size() == kMostNear) break;
    const bool is_there = std::ranges::any_of(winners, [&](const EarlierWinner& other) {
      return other.size == winner->size && other.config == winner->config;
    });
    if (!is_there) winners.push_back({winner->size, winner->config});
  }
  return winners;
}

void EarlierWinners::add_fastest_trials(const store::Store& store) {
  std::map<std::string, store::TrialRecord> fastest;
  for (store::StoredTrial& stored :
       store.trials({.device = device_.name, .family = family_.name, .kernel = kernel_.name})) {
    if (!stored.trial.time) continue;
    const double ns = stored.trial.time->median_ns;
    const auto [found, added] = fastest.try_emplace(stored.trial.problem, stored.trial);
    if (!added && ns < found->second.time->median_ns) found->second = std::move(stored.trial);
  }
  for (const auto& [problem, trial] : fastest) {
    auto config = config_of(trial.config_json, kernel_);
    auto size = space::stored_size(problem, family_.problem.dims);
    if (!config || !size) continue;
    winners_.push_back({.on_this_model = true,
                        .is_incumbent = false,
                        .size = *std::move(size),
                        .config = *std::move(config)});
  }
}

}  // namespace tuner::session
