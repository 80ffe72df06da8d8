// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/session/session.hpp"

#include <chrono>
#include <optional>

namespace tuner::session {

/// The time of a command, of which its runs get parts one after another. What one of them leaves
/// goes to those behind it.
class TimeBudget {
 public:
  /// Begins now; unlimited without a total. A command ends within 10 s of its time, or 10 % of it
  /// if that is more: half of that is the overrun, the rest is for what has begun then.
  explicit TimeBudget(std::optional<std::chrono::milliseconds> total,
                      RunClock now = std::chrono::steady_clock::now);

  [[nodiscard]] bool is_limited() const { return end_.has_value(); }
  /// 0 where the time is up. Only of a limited one.
  [[nodiscard]] std::chrono::milliseconds left() const;
  /// A part of what is left and of the overrun, from 0 to 1.
  [[nodiscard]] TimeBudget part(double share) const;
  /// Gives all that is left to a run.
  void give_to(RunPlan& plan) const;

 private:
  RunClock now_;
  std::optional<std::chrono::steady_clock::time_point> end_;
  std::chrono::milliseconds overrun_{};
};

}  // namespace tuner::session
