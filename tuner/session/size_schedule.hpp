// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/session/neighbours.hpp"
#include "tuner/session/pipeline.hpp"
#include "tuner/session/session.hpp"
#include "tuner/session/size_search.hpp"
#include "tuner/session/time_shares.hpp"

#include <chrono>
#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>

namespace tuner::session {

/// The searches of a run: which sizes are searched when, for how long, and what they tell each
/// other. A few are open at once, the first of them far from each other; where one is closed the
/// next is opened, with what won at the sizes near it.
class SizeSchedule {
 public:
  /// So many are open at once: the fewer, the more a later one can take from those before it; but
  /// the more of its questions are under way at once, asked with less known.
  static constexpr std::size_t kAtOnce = 8;

  /// All must outlive it. The search of every size of the plan is to be added before anything else.
  SizeSchedule(const RunPlan& plan, const family::Kernel& kernel, worker::CompilePool& pool);
  SizeSchedule(const SizeSchedule&) = delete;
  SizeSchedule& operator=(const SizeSchedule&) = delete;

  /// Adds the search at the next size of the plan.
  void add(const space::Size& size, space::Space space, PriorKnowledge prior);
  /// In the order of the plan, closed ones too.
  [[nodiscard]] std::deque<SizeSearch>& searches() { return searches_; }
  [[nodiscard]] const std::deque<SizeSearch>& searches() const { return searches_; }
  /// Of the searches that are opened first the one with the middling value.
  [[nodiscard]] const SizeSearch& typical(
      const std::function<double(const space::Size&)>& value) const;

  /// Opens as many as may be open.
  void open();
  /// The next candidate of any open search, as of Pipeline.
  [[nodiscard]] std::optional<Pending> next(const std::function<bool()>& stop);
  /// What comes after the candidate of a search that has just been judged and is not recorded yet;
  /// none when the search may be over then.
  [[nodiscard]] const Pending* following(const SizeSearch& search) const;
  /// Has a configuration timed once more, unless its search is closed. Returns whether it is not.
  bool again(SizeSearch& search, const space::Config& config) {
    return pipeline_.again(search, config);
  }
  /// That a configuration has become the fastest at one size: it is likely good at those near it,
  /// and compiled already.
  void share(const SizeSearch& from, const space::Config& config);
  /// That so much time of the search went into one size, or served all.
  void charge(const SizeSearch& search, TimeShares::Duration time);
  void charge_all(TimeShares::Duration time) { shares_.charge_all(time); }

  /// Whether an open search is at its end, out of patience or out of time.
  [[nodiscard]] bool is_over(SizeSearch& search);
  /// Ends a search, whether it was opened or not.
  void close(SizeSearch& search);
  /// Has more compiled ahead, so that the compilers have work through a final.
  void stock_up() { pipeline_.stock_up(budget_); }
  /// Whether every search was over before its time was up.
  [[nodiscard]] bool searched_to_the_end() const { return ended_.size() == searches_.size(); }

 private:
  /// Whether patience is at an end after so many more results that bring nothing.
  [[nodiscard]] bool is_in_vain(const SizeSearch& search, std::uint64_t more) const;
  /// Whether its time is up after so many more results.
  [[nodiscard]] bool is_out_of_time(const SizeSearch& search, std::uint64_t more) const;

  const RunPlan& plan_;
  std::deque<SizeSearch> searches_;
  std::map<const SizeSearch*, std::size_t> index_;
  Neighbours neighbours_;
  TimeShares shares_;
  Pipeline pipeline_;
  Pipeline::BudgetOf budget_;
  std::size_t opened_ = 0;  // of neighbours_.order()
  std::set<const SizeSearch*> open_;
  std::set<const SizeSearch*> ended_;  // with nothing more to ask, or in vain
};

}  // namespace tuner::session
