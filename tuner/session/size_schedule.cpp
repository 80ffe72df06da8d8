// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/size_schedule.hpp"

#include <algorithm>
#include <utility>

namespace tuner::session {
namespace {

/// Candidates in flight to the device for each that can compile at once: enough that no compiler
/// waits, and no more, since what is asked late is asked with more known.
constexpr std::size_t kAhead = 2;
/// Trials that a size gets even where one of them takes longer than its share of the time: the
/// default, what was best before, and two that won nearby.
constexpr std::uint64_t kFewestTrials = 4;

}  // namespace

SizeSchedule::SizeSchedule(const RunPlan& plan, const family::Kernel& kernel,
                           worker::CompilePool& pool)
    : plan_(plan),
      neighbours_(plan.sizes, kernel.space->dims),
      shares_(plan.max_time, plan.sizes.size()),
      pipeline_(kernel, pool, kAhead * static_cast<std::size_t>(plan.compile_threads)),
      budget_([this](const SizeSearch& search) {
        return search::Budget{.spent = shares_.spent(index_.at(&search))};
      }) {}

void SizeSchedule::add(const space::Size& size, space::Space space, PriorKnowledge prior) {
  searches_.emplace_back(size, std::move(space), plan_.strategy, plan_.seed, std::move(prior),
                         plan_.max_evaluations);
  if (plan_.candidates == Candidates::known) searches_.back().limit_to_known();
  index_.emplace(&searches_.back(), searches_.size() - 1);
}

const SizeSearch& SizeSchedule::typical(
    const std::function<double(const space::Size&)>& value) const {
  std::vector<std::size_t> first = neighbours_.order();
  first.resize(std::min(first.size(), kAtOnce));
  const auto middle = first.begin() + static_cast<std::ptrdiff_t>((first.size() - 1) / 2);
  std::ranges::nth_element(first, middle, {},
                           [&](std::size_t i) { return value(searches_[i].size()); });
  return searches_[*middle];
}

void SizeSchedule::open() {
  for (; open_.size() < kAtOnce && opened_ < searches_.size(); ++opened_) {
    const std::size_t next = neighbours_.order()[opened_];
    SizeSearch& search = searches_[next];
    search.expect(winners_nearby(neighbours_, next, searches_));
    pipeline_.open(search);
    open_.insert(&search);
  }
}

std::optional<Pending> SizeSchedule::next(const std::function<bool()>& stop) {
  return pipeline_.next(stop, budget_);
}

const Pending* SizeSchedule::following(const SizeSearch& search) const {
  const bool last = search.recorded() + 1 >= search.planned();
  const bool may_end = last || is_in_vain(search, 1) || is_out_of_time(search, 1);
  return may_end ? nullptr : pipeline_.peek();
}

void SizeSchedule::share(const SizeSearch& from, const space::Config& config) {
  const std::size_t origin = index_.at(&from);
  for (std::size_t i = 0; i < searches_.size(); ++i) {
    const bool near = i != origin && neighbours_.is_neighbour(i, origin);
    if (near && open_.contains(&searches_[i])) searches_[i].suggest(config);
  }
}

void SizeSchedule::charge(const SizeSearch& search, TimeShares::Duration time) {
  shares_.charge(index_.at(&search), time);
}

bool SizeSchedule::is_in_vain(const SizeSearch& search, std::uint64_t more) const {
  return plan_.patience && search.without_improvement() + more >= *plan_.patience;
}

bool SizeSchedule::is_out_of_time(const SizeSearch& search, std::uint64_t more) const {
  return search.recorded() + more >= kFewestTrials && shares_.used_up(index_.at(&search));
}

bool SizeSchedule::is_over(SizeSearch& search) {
  if (is_in_vain(search, 0) || pipeline_.exhausted(search, budget_)) ended_.insert(&search);
  return ended_.contains(&search) || is_out_of_time(search, 0);
}

void SizeSchedule::close(SizeSearch& search) {
  pipeline_.close(search);
  shares_.close(index_.at(&search));
  search.close();
  open_.erase(&search);
}

}  // namespace tuner::session
