// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/time_budget.hpp"

#include <algorithm>
#include <utility>

namespace tuner::session {

using std::chrono::milliseconds;

TimeBudget::TimeBudget(std::optional<milliseconds> total, RunClock now) : now_(std::move(now)) {
  constexpr milliseconds kLeast{5'000};
  constexpr int kPartOfTotal = 20;
  if (!total) return;
  end_ = now_() + *total;
  overrun_ = std::max(kLeast, *total / kPartOfTotal);
}

milliseconds TimeBudget::left() const {
  return std::max(milliseconds(0), std::chrono::duration_cast<milliseconds>(*end_ - now_()));
}

TimeBudget TimeBudget::part(double share) const {
  TimeBudget part = *this;
  if (!end_) return part;
  const auto of = [share](milliseconds whole) {
    return std::chrono::duration_cast<milliseconds>(share * whole);
  };
  part.end_ = now_() + of(left());
  part.overrun_ = of(overrun_);
  return part;
}

void TimeBudget::give_to(RunPlan& plan) const {
  if (!end_) return;
  plan.max_time = left();
  plan.overrun = overrun_;
}

}  // namespace tuner::session
