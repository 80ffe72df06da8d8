// SPDX-License-Identifier: Apache-2.0
#include "tuner/measure/finals.hpp"

#include <algorithm>
#include <numeric>
#include <random>

namespace tuner {

Expected<std::vector<std::vector<double>>, Failure> run_finals(Backend& backend,
                                                               std::span<const Work> contenders,
                                                               const FinalsPlan& plan,
                                                               const std::function<bool()>& stop) {
  std::vector<std::vector<double>> samples(contenders.size());
  std::vector<std::size_t> order(contenders.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::mt19937_64 random(plan.seed);
  for (const Work& work : contenders) {
    if (auto warm = backend.run(work); !warm) return Unexpected(std::move(warm.error()));
  }
  const auto end = std::chrono::steady_clock::now() + plan.budget;
  for (int round = 0; round < plan.rounds; ++round) {
    const bool enough = round >= plan.fewest_rounds && std::chrono::steady_clock::now() >= end;
    if (enough || stop()) break;
    std::ranges::shuffle(order, random);
    for (const std::size_t contender : order) {
      auto sample = backend.time(contenders[contender], {.warm_up = 0, .samples = 1});
      if (!sample) return Unexpected(std::move(sample.error()));
      samples[contender].push_back(sample->front());
    }
  }
  return samples;
}

MedianInterval standing(std::span<const double> samples_ns, std::span<const double> other_ns) {
  const std::vector<double> ratios = paired_ratios(samples_ns, other_ns);
  if (const auto interval = median_interval(ratios)) return *interval;
  // Too few rounds for an interval: all that was seen.
  const auto [low, high] = std::ranges::minmax(ratios);
  return {.median = *quantile(ratios, 0.5), .low = low, .high = high};
}

}  // namespace tuner
