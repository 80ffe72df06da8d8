// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace tuner::dispatch {

/// By what factor a plan must be faster than the library's own choice to be taken before it,
/// besides that its interval says so.
inline constexpr double kLeastGain = 1.01;

/// The times of plans that ran side by side in rounds, of which those leave that are certainly
/// slower than another. Certain is, before six rounds give an interval, what is slower in every
/// round by a margin that shrinks with their number; from then on a ratio whose 95 % interval
/// begins above 1 (measure::standing), for the library above 1.005.
class PlanRounds {
 public:
  /// `library`: which of the plans is the library by its own choice.
  PlanRounds(std::size_t plans, std::optional<std::size_t> library);

  /// The plans that are left, in the order of their indices; never none unless there was none.
  [[nodiscard]] const std::vector<std::size_t>& left() const { return left_; }
  [[nodiscard]] std::size_t count() const { return rounds_; }
  /// A plan that did not run.
  void remove(std::size_t plan);
  /// A round: the time of each plan of left(), in that order. Plans that are now certainly slower
  /// leave.
  void add(std::span<const double> times_ns);
  /// Whether more rounds would change nothing: one is left, or each ratio to the fastest of left()
  /// is known to +-0.5 %.
  [[nodiscard]] bool is_decided() const;

  /// The plans that ran in any round, first the one to take: the fastest, or the library unless
  /// that is certainly slower, by kLeastGain at least. Of the others, those left come first.
  [[nodiscard]] std::vector<std::size_t> order() const;
  /// The median; none before a round.
  [[nodiscard]] std::optional<double> time_ns(std::size_t plan) const;

 private:
  void drop();
  [[nodiscard]] std::vector<std::size_t> fastest_first() const;
  [[nodiscard]] bool is_left(std::size_t plan) const;
  [[nodiscard]] double ratio(std::size_t plan, std::size_t other) const;

  std::optional<std::size_t> library_;
  std::vector<std::vector<double>> times_ns_;  // by plan, then round
  std::vector<std::size_t> left_;
  std::size_t rounds_ = 0;
};

}  // namespace tuner::dispatch
