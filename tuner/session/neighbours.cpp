// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/neighbours.hpp"

#include "tuner/select/nearness.hpp"
#include "tuner/session/size_search.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace tuner::session {
namespace {

/// How many winners a size passes on, and how far behind its fastest they may be.
constexpr std::size_t kWinners = 3;
constexpr double kFarBehind = 1.1;

/// Whether two sizes are of different kinds, else how near they are: what compares less is nearer.
using Distance = std::pair<bool, select::Nearness>;

Distance distance(const space::Size& from, const space::Size& to, const space::Dimensions& dims) {
  auto near = select::nearness(from, to, dims);
  return near ? Distance(false, *std::move(near)) : Distance(true, {});
}

}  // namespace

Neighbours::Neighbours(std::span<const space::Size> sizes, const space::Dimensions& dims)
    : nearest_(sizes.size()) {
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const auto from_here = [&](std::size_t j) { return distance(sizes[i], sizes[j], dims); };
    std::vector<std::size_t>& others = nearest_[i];
    others.resize(sizes.size());
    std::iota(others.begin(), others.end(), std::size_t{0});
    std::erase_if(others, [&](std::size_t j) { return j == i || from_here(j).first; });
    std::ranges::sort(others, {}, from_here);
  }
  std::vector<std::size_t> waiting(sizes.size());
  std::iota(waiting.begin(), waiting.end(), std::size_t{0});
  std::vector<Distance> to_begun(sizes.size());  // of each waiting size to the nearest begun one
  const auto begin = [&](std::size_t size) {
    std::erase(waiting, size);
    for (const std::size_t other : waiting) {
      Distance there = distance(sizes[other], sizes[size], dims);
      const bool nearer = order_.empty() || there < to_begun[other];
      if (nearer) to_begun[other] = std::move(there);
    }
    order_.push_back(size);
  };
  begin(0);
  while (!waiting.empty()) {
    begin(*std::ranges::max_element(waiting, {}, [&](std::size_t i) { return to_begun[i]; }));
  }
}

bool Neighbours::is_neighbour(std::size_t of, std::size_t size) const {
  const std::vector<std::size_t>& others = nearest_[of];
  const auto end = others.begin() + static_cast<std::ptrdiff_t>(std::min(kMost, others.size()));
  return std::find(others.begin(), end, size) != end;
}

std::vector<space::Config> winners(const SizeSearch& search) {
  std::vector<space::Config> fastest;
  const std::vector<Ranked> ranking = search.ranking();
  for (const Ranked& ranked : ranking) {
    if (fastest.size() == kWinners) break;
    if (ranked.ranked_ns > kFarBehind * ranking.front().ranked_ns) break;
    fastest.push_back(ranked.config);
  }
  return fastest;
}

std::vector<space::Config> winners_nearby(const Neighbours& neighbours, std::size_t size,
                                          std::span<const std::vector<space::Config>> winners) {
  std::vector<std::vector<space::Config>> by_neighbour;
  for (const std::size_t other : neighbours.nearest(size)) {
    if (by_neighbour.size() == Neighbours::kMost) break;
    if (!winners[other].empty()) by_neighbour.push_back(winners[other]);
  }
  std::vector<space::Config> all;
  for (std::size_t place = 0; place < kWinners; ++place) {
    for (const std::vector<space::Config>& fastest : by_neighbour) {
      if (place >= fastest.size()) continue;
      if (std::ranges::find(all, fastest[place]) == all.end()) all.push_back(fastest[place]);
    }
  }
  return all;
}

}  // namespace tuner::session
