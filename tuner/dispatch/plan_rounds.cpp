// SPDX-License-Identifier: Apache-2.0
#include "tuner/dispatch/plan_rounds.hpp"

#include "tuner/measure/rounds.hpp"

#include <algorithm>
#include <array>
#include <numeric>

namespace tuner::dispatch {
namespace {

/// What a plan must exceed in every one of so many rounds: of two that are equally fast, with a
/// noise of 2 %, one is dropped so at less than one choice in a hundred.
constexpr std::array<double, 6> kMargins = {0, 1.5, 1.15, 1.05, 1.025, 1.015};
/// Of many plans that are as fast as the library some interval begins above 1.
constexpr double kLibraryMargin = 1.005;
constexpr double kKnown = 0.005;

}  // namespace

PlanRounds::PlanRounds(std::size_t plans, std::optional<std::size_t> library)
    : library_(library), times_ns_(plans), left_(plans) {
  std::iota(left_.begin(), left_.end(), std::size_t{0});
}

void PlanRounds::remove(std::size_t plan) {
  std::erase(left_, plan);
}

void PlanRounds::add(std::span<const double> times_ns) {
  for (std::size_t i = 0; i < left_.size(); ++i) times_ns_[left_[i]].push_back(times_ns[i]);
  ++rounds_;
  drop();
}

std::vector<std::size_t> PlanRounds::fastest_first() const {
  std::vector<std::vector<double>> times_ns;
  for (const std::size_t plan : left_) times_ns.push_back(times_ns_[plan]);
  std::vector<std::size_t> plans;
  if (rounds_ == 0 || times_ns.empty()) return plans;
  for (const measure::Rank& rank : measure::ranking(times_ns)) {
    plans.push_back(left_[rank.contender]);
  }
  return plans;
}

void PlanRounds::drop() {
  if (left_.empty()) return;
  const std::size_t fastest = fastest_first().front();
  std::erase_if(left_, [&](std::size_t plan) {
    const double least = plan == library_ ? kLibraryMargin : 1.0;
    const double margin = rounds_ < kMargins.size() ? kMargins.at(rounds_) : least;
    return measure::standing(times_ns_[plan], times_ns_[fastest]).low > margin;
  });
}

bool PlanRounds::is_decided() const {
  if (left_.size() <= 1) return true;
  if (rounds_ < kMargins.size()) return false;
  const std::size_t fastest = fastest_first().front();
  return std::ranges::all_of(left_, [&](std::size_t plan) {
    const auto ratio = measure::standing(times_ns_[plan], times_ns_[fastest]);
    return ratio.high - ratio.low <= 2 * kKnown;
  });
}

bool PlanRounds::is_left(std::size_t plan) const {
  return std::ranges::count(left_, plan) > 0;
}

double PlanRounds::ratio(std::size_t plan, std::size_t other) const {
  const std::size_t rounds = std::min(times_ns_[plan].size(), times_ns_[other].size());
  return measure::standing(std::span(times_ns_[plan]).first(rounds),
                           std::span(times_ns_[other]).first(rounds))
      .median;
}

std::vector<std::size_t> PlanRounds::order() const {
  std::vector<std::size_t> order = fastest_first();
  const std::size_t ties = order.size();
  for (std::size_t plan = 0; plan < times_ns_.size(); ++plan) {
    if (!times_ns_[plan].empty() && !is_left(plan)) order.push_back(plan);
  }
  std::ranges::stable_sort(order.begin() + static_cast<std::ptrdiff_t>(ties), order.end(), {},
                           [&](std::size_t plan) { return *time_ns(plan); });
  const auto its = library_ ? std::ranges::find(order, *library_) : order.end();
  if (its == order.end()) return order;
  const bool is_slower = !is_left(*library_) && ratio(*library_, order.front()) >= kLeastGain;
  if (!is_slower) std::rotate(order.begin(), its, its + 1);
  return order;
}

std::optional<double> PlanRounds::time_ns(std::size_t plan) const {
  return measure::quantile(times_ns_[plan], 0.5);
}

}  // namespace tuner::dispatch
