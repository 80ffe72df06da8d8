// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/size_cost.hpp"

#include <algorithm>
#include <limits>

namespace tuner::session {
namespace {

double device_s(const store::TrialRecord& trial) {
  return (trial.verify_ms + trial.measure_ms) / 1e3;
}

void add(TrialCost& cost, const store::TrialRecord& trial) {
  ++cost.trials;
  cost.compile_s += trial.compile_ms / 1e3;
  cost.device_s += device_s(trial);
}

bool is_shared(const store::TrialRecord& trial) {
  const bool compiled =
      trial.outcome != Outcome::compile_error && trial.outcome != Outcome::quarantined;
  return compiled && trial.compile_ms == 0;
}

double best_ns(const std::vector<store::StoredTrial>& trials) {
  double best = std::numeric_limits<double>::infinity();
  for (const store::StoredTrial& stored : store::standing_trials(trials)) {
    if (stored.trial.time) best = std::min(best, stored.trial.time->median_ns);
  }
  return best;
}

/// Of the trials at one size, at least one.
SizeCost size_cost(const std::vector<store::StoredTrial>& trials) {
  const store::StoredTrial& first = trials.front();
  SizeCost cost{.problem = first.trial.problem, .all = {}};
  const double begun_s = first.elapsed_s - device_s(first.trial) - first.trial.compile_ms / 1e3;
  const double near_ns = kNearBest * best_ns(trials);
  for (const auto& [id, run, sequence, elapsed_s, config, trial] : trials) {
    add(cost.all, trial);
    if (is_shared(trial)) ++cost.shared;
    if (cost.to_near_best || !trial.time || trial.time->median_ns > near_ns) continue;
    cost.to_near_best = cost.all;
    cost.elapsed_s = elapsed_s - begun_s;
  }
  return cost;
}

}  // namespace

std::vector<SizeCost> size_costs(std::span<const store::StoredTrial> trials) {
  std::vector<std::vector<store::StoredTrial>> by_size;
  for (const store::StoredTrial& stored : trials) {
    const auto size =
        std::ranges::find_if(by_size, [&](const std::vector<store::StoredTrial>& of_size) {
          return of_size.front().trial.problem == stored.trial.problem;
        });
    if (size == by_size.end()) {
      by_size.push_back({stored});
    } else {
      size->push_back(stored);
    }
  }
  std::vector<SizeCost> costs;
  for (const std::vector<store::StoredTrial>& of_size : by_size)
    costs.push_back(size_cost(of_size));
  return costs;
}

}  // namespace tuner::session
