// SPDX-License-Identifier: Apache-2.0
#include "tuner/measure/rounds.hpp"

#include "tuner/measure/clock_watch.hpp"

#include <algorithm>
#include <numeric>
#include <random>

namespace tuner::measure {
namespace {

/// By contender, then round.
using Rounds = std::vector<std::vector<backend::Sample>>;

/// The rounds in which every contender ran at its own clock. Each is held against itself: at the
/// power limit, a kernel that keeps more of the device busy runs at a lower clock than another.
std::vector<std::size_t> steady_rounds(const Rounds& rounds) {
  std::vector<std::size_t> steady(rounds.front().size());
  std::iota(steady.begin(), steady.end(), std::size_t{0});
  for (const std::vector<backend::Sample>& samples : rounds) {
    const ClockWatch own(median_clock(samples));
    std::erase_if(steady, [&](std::size_t round) { return !own.steady(samples[round]); });
  }
  return steady;
}

RoundTimes final_times(const Rounds& rounds, int fewest_rounds) {
  const std::size_t count = rounds.front().size();
  std::vector<std::size_t> kept = steady_rounds(rounds);
  if (std::cmp_less(kept.size(), fewest_rounds)) {
    kept.resize(count);
    std::iota(kept.begin(), kept.end(), std::size_t{0});
  }
  RoundTimes result;
  result.discarded_rounds = static_cast<int>(count - kept.size());
  for (const std::vector<backend::Sample>& samples : rounds) {
    std::vector<backend::Sample> mine;
    mine.reserve(kept.size());
    for (const std::size_t round : kept) mine.push_back(samples[round]);
    result.times_ns.push_back(times(mine));
    result.clock_mhz.push_back(median_clock(mine));
  }
  return result;
}

/// Whether more rounds would change no verdict among the first `ranked` contenders.
bool is_decided_among(std::size_t ranked, std::vector<std::vector<double>> times_ns) {
  times_ns.resize(ranked);
  return is_decided(ranking(times_ns));
}

double half_width(const MedianInterval& interval) {
  return (interval.high - interval.low) / 2;
}

/// Every time relative to the median of its round: removes what affected a whole round.
std::vector<std::vector<double>> relative_to_round(std::vector<std::vector<double>> times_ns) {
  for (std::size_t round = 0; round < times_ns.front().size(); ++round) {
    std::vector<double> together;
    together.reserve(times_ns.size());
    for (const std::vector<double>& mine : times_ns) together.push_back(mine[round]);
    const double median = *quantile(together, 0.5);
    for (std::vector<double>& mine : times_ns) mine[round] /= median;
  }
  return times_ns;
}

}  // namespace

Expected<RoundTimes, Failure> time_rounds(std::size_t contenders, const Round& round,
                                          const RoundsPlan& plan,
                                          const std::function<bool()>& stop) {
  Rounds rounds(contenders);
  std::vector<std::size_t> order(contenders);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::mt19937_64 random(plan.seed);
  const std::size_t ranked = plan.ranked.value_or(contenders);
  const auto end = std::chrono::steady_clock::now() + plan.budget;
  for (int done = 0; done < plan.rounds; ++done) {
    const bool enough = done >= plan.fewest_rounds && std::chrono::steady_clock::now() >= end;
    if (enough || stop()) break;
    std::ranges::shuffle(order, random);
    auto samples = round(order);
    if (!samples) return Unexpected(std::move(samples.error()));
    for (std::size_t i = 0; i < contenders; ++i) rounds[order[i]].push_back((*samples)[i]);
    if (done + 1 < plan.decisive_rounds) continue;
    const RoundTimes so_far = final_times(rounds, plan.fewest_rounds);
    const bool full = std::cmp_greater_equal(so_far.times_ns.front().size(), plan.decisive_rounds);
    if (full && is_decided_among(ranked, so_far.times_ns)) return so_far;
  }
  return final_times(rounds, plan.fewest_rounds);
}

MedianInterval standing(std::span<const double> samples_ns, std::span<const double> other_ns,
                        const Blocks& blocks) {
  const std::vector<double> ratios = paired_ratios(samples_ns, other_ns);
  const auto interval = median_interval(ratios);
  // Too few rounds for an interval: all that was seen.
  if (!interval) {
    const auto [low, high] = std::ranges::minmax(ratios);
    return {.median = *quantile(ratios, 0.5), .low = low, .high = high};
  }
  MedianInterval wide = *interval;
  std::span<const double> rest = ratios;
  for (const int rounds : blocks) {
    const auto block = rest.first(std::min(rest.size(), static_cast<std::size_t>(rounds)));
    rest = rest.subspan(block.size());
    if (const auto median = quantile(block, 0.5)) {
      wide.low = std::min(wide.low, *median);
      wide.high = std::max(wide.high, *median);
    }
  }
  return wide;
}

std::vector<Rank> ranking(const std::vector<std::vector<double>>& times_ns, const Blocks& blocks) {
  std::vector<double> relative;
  for (const std::vector<double>& mine : relative_to_round(times_ns)) {
    relative.push_back(*quantile(mine, 0.5));
  }
  std::vector<Rank> ranks(times_ns.size());
  for (std::size_t i = 0; i < ranks.size(); ++i) ranks[i].contender = i;
  std::ranges::stable_sort(ranks, {}, [&](const Rank& rank) { return relative[rank.contender]; });
  const std::vector<double>& fastest = times_ns[ranks.front().contender];
  for (Rank& rank : ranks) {
    rank.ratio = standing(times_ns[rank.contender], fastest, blocks);
    rank.tied = rank.ratio.low <= kTieFactor;
  }
  return ranks;
}

bool is_decided(std::span<const Rank> ranks) {
  constexpr double kKnown = 0.0025;  // of a tie's 1 %, a quarter
  return std::ranges::all_of(
      ranks, [](const Rank& rank) { return !rank.tied || half_width(rank.ratio) <= kKnown; });
}

}  // namespace tuner::measure
