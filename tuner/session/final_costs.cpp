// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/final_costs.hpp"

#include <algorithm>
#include <limits>

namespace tuner::session {

void FinalCosts::add_timing(Duration time) {
  timings_time_ += time;
  ++timings_;
}

void FinalCosts::add_final(std::size_t contenders, Duration time) {
  finals_time_ += time;
  contenders_ += contenders;
}

FinalCosts::Duration FinalCosts::of_one() const {
  // Nothing is verified in a final round, and six repetitions of it take about a third of what a
  // trial's samples take. On a GPU a contender takes several trials; there the first final round
  // tells.
  constexpr double kShareOfTiming = 1.0 / 3;
  if (contenders_ > 0) return finals_time_ / static_cast<double>(contenders_);
  if (timings_ == 0) return Duration{};
  return kShareOfTiming * timings_time_ / static_cast<double>(timings_);
}

FinalCosts::Duration FinalCosts::expected(std::size_t contenders) const {
  return static_cast<double>(contenders) * of_one();
}

std::size_t FinalCosts::most_contenders(Duration time) const {
  constexpr auto kAny = static_cast<double>(std::numeric_limits<int>::max());
  const Duration one = of_one();
  if (one.count() <= 0) return static_cast<std::size_t>(kAny);
  return static_cast<std::size_t>(std::clamp(time / one, 0.0, kAny));
}

}  // namespace tuner::session
