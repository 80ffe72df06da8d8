// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/session/observer.hpp"
#include "tuner/session/session.hpp"
#include "tuner/session/size_search.hpp"

#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>

namespace tuner::session {

/// Tells an observer where a run stands, and estimates how long it will take.
class ProgressReport {
 public:
  using Clock = std::chrono::steady_clock;

  /// The problem, the searches, the observer and the plan must outlive it.
  ProgressReport(const family::Problem& problem, const std::deque<SizeSearch>& searches,
                 Observer& observer, const RunPlan& plan, Clock::time_point start)
      : problem_(problem), searches_(searches), observer_(observer), plan_(plan), start_(start) {}

  /// A trial that was run.
  void ran(const SizeSearch& search, const store::TrialRecord& trial, bool new_best);
  /// A trial whose result was taken from the database.
  void reused(const SizeSearch& search, const store::TrialRecord& trial, bool new_best);
  [[nodiscard]] std::uint64_t reused(const SizeSearch& search) const;
  /// That a final took so long, which is no time of the search.
  void held_final(Clock::duration time) { finals_ += time; }

 private:
  [[nodiscard]] Progress progress(const SizeSearch& search, const store::TrialRecord& trial,
                                  bool new_best) const;
  [[nodiscard]] std::optional<std::chrono::milliseconds> remaining(const Progress& progress) const;
  void tell(Progress progress);

  const family::Problem& problem_;
  const std::deque<SizeSearch>& searches_;
  Observer& observer_;
  const RunPlan& plan_;
  Clock::time_point start_;
  Clock::duration finals_{};
  std::map<const SizeSearch*, std::uint64_t> reused_;
  std::uint64_t ran_ = 0;
  bool estimate_announced_ = false;
};

}  // namespace tuner::session
