// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/kernel_standings.hpp"

#include <algorithm>
#include <utility>

namespace tuner::session {

std::vector<Standing> kernel_standings(std::span<const KernelTimes> kernels) {
  constexpr double kWithinReach = 2;
  std::map<space::Size, std::vector<Standing::Place>> by_size;
  for (std::size_t kernel = 0; kernel < kernels.size(); ++kernel) {
    for (const auto& [size, time_ns] : kernels[kernel]) {
      by_size[size].push_back({.kernel = kernel, .time_ns = time_ns});
    }
  }
  std::vector<Standing> standings;
  for (auto& [size, places] : by_size) {
    std::ranges::stable_sort(places, {}, &Standing::Place::time_ns);
    const std::size_t half = (places.size() + 1) / 2;
    const double most_ns = kWithinReach * places.front().time_ns;
    const auto near = std::ranges::count_if(
        places, [&](const Standing::Place& place) { return place.time_ns <= most_ns; });
    standings.push_back({.size = size,
                         .places = std::move(places),
                         .going_on = std::min(half, static_cast<std::size_t>(near))});
  }
  return standings;
}

}  // namespace tuner::session
