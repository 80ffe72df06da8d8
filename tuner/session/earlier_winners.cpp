// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/earlier_winners.hpp"

#include "tuner/core/error.hpp"
#include "tuner/select/nearness.hpp"

#include <algorithm>
#include <utility>

namespace tuner::session {
namespace {

/// The configuration of a stored best; none when the space has changed since and no longer has it.
std::optional<space::Config> config_of(const store::StoredBest& stored,
                                       const family::Kernel& kernel) {
  try {
    return space::config_from_json(*kernel.space, stored.best.config_json);
  } catch (const Error&) {
    return std::nullopt;
  }
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
    if (auto config = config_of(stored, kernel)) return config;
  }
  return std::nullopt;
}

std::vector<space::Config> winners_on_other_devices(const store::Store& store,
                                                    const family::Family& family,
                                                    const family::Kernel& kernel,
                                                    const space::DeviceInfo& device,
                                                    const space::Size& size) {
  std::vector<space::Config> winners;
  for (const store::StoredBest& stored :
       store.bests({.family = family.name,
       .kernel = kernel.name,
       .problem = space::canonical_size(size, family.problem.dims)})) {
    const space::DeviceInfo& other = stored.subject->device;
    if (other.backend != device.backend || other.name == device.name) continue;
    auto config = config_of(stored, kernel);
    if (config && std::ranges::find(winners, *config) == winners.end()) {
      winners.push_back(*std::move(config));
    }
  }
  return winners;
}

std::vector<space::Config> winners_elsewhere(const store::Store& store,
                                             const family::Family& family,
                                             const family::Kernel& kernel,
                                             const space::DeviceInfo& device,
                                             const space::Size& size) {
  constexpr std::size_t kMost = 8;
  using Distance = std::pair<bool, select::Nearness>;
  std::vector<std::pair<Distance, space::Config>> winners;
  for (const store::StoredBest& stored :
       store.bests({.family = family.name, .kernel = kernel.name})) {
    const space::DeviceInfo& other = stored.subject->device;
    if (other.backend != device.backend) continue;
    auto config = config_of(stored, kernel);
    const auto there = space::stored_size(stored.best.problem, family.problem.dims);
    if (!config || !there) continue;
    auto distance = select::nearness(size, *there, family.problem.dims);
    if (!distance) continue;
    winners.emplace_back(Distance{other.name != device.name, *std::move(distance)},
                         std::move(*config));
  }
  std::ranges::stable_sort(winners, {}, &std::pair<Distance, space::Config>::first);
  std::vector<space::Config> nearest;
  for (auto& [distance, config] : winners) {
    if (nearest.size() == kMost) break;
    if (std::ranges::find(nearest, config) == nearest.end()) nearest.push_back(std::move(config));
  }
  return nearest;
}

}  // namespace tuner::session
