// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/size_schedule.hpp"

#include "tuner/session/final_round.hpp"

namespace tuner::session {
namespace {

/// Trials that a size gets even where one of them takes longer than its share of the time: the
/// default, what was best before, and two that won nearby.
constexpr std::uint64_t kFewestTrials = 4;

}  // namespace

SizeSchedule::SizeSchedule(const RunPlan& plan, const family::Kernel& kernel,
                           MachineCompilers& compilers, SizeBoard& board)
    : plan_(plan),
      board_(board),
      shares_(plan.max_time, board.importance(),
              [&board] { return board.waiting_importance_per_card(); }),
      pipeline_(kernel, compilers.pool, [&compilers] { return compilers.ahead(); }),
      budget_([this](const SizeSearch& search) {
        return search::Budget{.spent = shares_.spent(board_.index(search))};
      }) {}

void SizeSchedule::open() {
  std::vector<SizeSearch*> open_ones = held_;
  std::erase_if(open_ones, [](const SizeSearch* search) { return search->is_closed(); });
  while (const auto taken = board_.take(open_ones)) {
    SizeSearch& search = *taken->search;
    held_.push_back(&search);
    if (taken->stage == SizeBoard::Stage::searched) continue;
    open_ones.push_back(&search);
    if (taken->stage == SizeBoard::Stage::fresh) search.expect(board_.winners_near(search));
    if (taken->stage == SizeBoard::Stage::begun) {
      for (const space::Config& leader : FinalRound::finalists(search, plan_.most_finalists))
        search.ask_again(leader);
    }
    pipeline_.open(search);
    shares_.open(board_.index(search));
  }
}

std::optional<Pending> SizeSchedule::next(const std::function<bool()>& stop,
                                          Pipeline::Order order) {
  hear_offers();
  return pipeline_.next(stop, budget_, order);
}

const Pending* SizeSchedule::following(const SizeSearch& search) const {
  const bool last = search.recorded() + 1 >= search.planned();
  const bool may_end = last || is_in_vain(search, 1) || is_out_of_time(search, 1);
  return may_end ? nullptr : pipeline_.peek();
}

void SizeSchedule::hear_offers() {
  for (SizeSearch* const search : held_) {
    if (search->is_closed()) continue;
    for (const space::Config& config : board_.offered(*search)) search->suggest(config);
  }
}

void SizeSchedule::charge(const SizeSearch& search, TimeShares::Duration time) {
  shares_.charge(board_.index(search), time);
}

bool SizeSchedule::is_in_vain(const SizeSearch& search, std::uint64_t more) const {
  return plan_.patience && search.without_improvement() + more >= *plan_.patience;
}

bool SizeSchedule::is_out_of_time(const SizeSearch& search, std::uint64_t more) const {
  return search.recorded() + more >= kFewestTrials && shares_.used_up(board_.index(search));
}

bool SizeSchedule::is_over(SizeSearch& search) {
  if (is_in_vain(search, 0) || pipeline_.exhausted(search, budget_)) board_.set_ended(search);
  return board_.has_ended(search) || is_out_of_time(search, 0);
}

void SizeSchedule::close(SizeSearch& search) {
  static_cast<void>(pipeline_.close(search));
  shares_.close(board_.index(search));
  search.close();
}

void SizeSchedule::finish(const SizeSearch& search) {
  std::erase(held_, &search);
  board_.finish(search);
}

void SizeSchedule::give_up() {
  for (SizeSearch* const search : held_) {
    for (const space::Config& config : pipeline_.close(*search)) search->ask_again(config);
    board_.give_back(*search,
                     search->is_closed() ? SizeBoard::Stage::searched : SizeBoard::Stage::begun);
  }
  held_.clear();
}

}  // namespace tuner::session
