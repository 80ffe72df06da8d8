// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/backend/backend.hpp"
#include "tuner/measure/statistics.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace tuner::measure {

/// A contender is tied with the fastest unless it is shown to be slower by more than this.
inline constexpr double kTieFactor = 1.01;

/// How contenders are timed in interleaved rounds.
struct RoundsPlan {
  int rounds = 100;          ///< at most
  int decisive_rounds = 30;  ///< after which it ends as soon as the ranking is settled
  int fewest_rounds = 6;     ///< even when time is up: an interval needs them
  std::chrono::milliseconds budget{15'000};  ///< after which no further round begins
  std::uint64_t seed = 0;                    ///< of the order within the rounds
  /// The number of contenders, from the first on, that are ranked; the others, such as the library,
  /// are only timed. Absent: all. At least one.
  std::optional<std::size_t> ranked = {};
};

/// One round: times every contender once, in the order of their indices given. The result's i-th
/// sample is that of contender order[i].
using Round = std::function<Expected<std::vector<backend::Sample>, Failure>(
    std::span<const std::size_t> order)>;

/// What was measured in rounds: every contender's samples by round, all of the same length.
struct RoundTimes {
  std::vector<std::vector<double>> times_ns;     ///< by contender, then round
  std::vector<std::optional<double>> clock_mhz;  ///< by contender: the median, where it is known
  int discarded_rounds = 0;                      ///< not among them: the device was throttled
};

/// Times contenders side by side: in every round each once, in an order shuffled anew, so that
/// drift of the device's clock and temperature falls on all alike. Ends when the ranking of those
/// that are ranked `is_decided`, at the plan's limits, or when `stop`, asked between rounds, says
/// so. A round in which a contender ran
/// below 96 % of its own median clock is left out whole; when fewer than `fewest_rounds` would be
/// left, none is. Fails as `round` does.
[[nodiscard]] Expected<RoundTimes, Failure> time_rounds(std::size_t contenders, const Round& round,
                                                        const RoundsPlan& plan,
                                                        const std::function<bool()>& stop);

/// How many rounds, one after another, were taken with code and data in one place, as of one
/// process. What differs between places is a part of every ratio that no number of rounds in one
/// place shows.
using Blocks = std::vector<int>;

/// A contender's standing beside another: the median of its times over the other's, round by round.
/// The interval also holds the median of each block; without blocks all rounds are one.
[[nodiscard]] MedianInterval standing(std::span<const double> samples_ns,
                                      std::span<const double> other_ns, const Blocks& blocks = {});

/// One line of a ranking.
struct Rank {
  std::size_t contender = 0;
  MedianInterval ratio;  ///< its standing beside the fastest
  bool tied = false;     ///< with the fastest: its interval begins within kTieFactor
};

/// Contenders by their median time relative to their rounds' medians, fastest first. `times_ns` as
/// in RoundTimes, at least one round.
[[nodiscard]] std::vector<Rank> ranking(const std::vector<std::vector<double>>& times_ns,
                                        const Blocks& blocks = {});

/// Whether further rounds would change no verdict: every contender is beyond a tie for certain, or
/// its ratio to the fastest is known to ± 0.25 %.
[[nodiscard]] bool is_decided(std::span<const Rank> ranks);

}  // namespace tuner::measure
