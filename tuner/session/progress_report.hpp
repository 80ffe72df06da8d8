// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/session/observer.hpp"
#include "tuner/session/size_search.hpp"

#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>

namespace tuner {

/// Tells an observer where a session stands, and estimates how long it will take.
class ProgressReport {
 public:
  using Clock = std::chrono::steady_clock;

  /// The problem, the searches and the observer must outlive it. `max_time` bounds the search.
  ProgressReport(const Problem& problem, const std::deque<SizeSearch>& searches, Observer& observer,
                 std::optional<std::chrono::milliseconds> max_time, Clock::time_point start)
      : problem_(problem),
        searches_(searches),
        observer_(observer),
        max_time_(max_time),
        start_(start) {}

  /// A trial that was run.
  void ran(const SizeSearch& search, const TrialRecord& trial, bool new_best);
  /// A trial whose result was taken from the database.
  void reused(const SizeSearch& search, const TrialRecord& trial, bool new_best);
  [[nodiscard]] std::uint64_t reused(const SizeSearch& search) const;

 private:
  [[nodiscard]] Progress progress(const SizeSearch& search, const TrialRecord& trial,
                                  bool new_best) const;
  [[nodiscard]] std::optional<std::chrono::milliseconds> remaining(const Progress& progress) const;
  void tell(Progress progress);

  const Problem& problem_;
  const std::deque<SizeSearch>& searches_;
  Observer& observer_;
  std::optional<std::chrono::milliseconds> max_time_;
  Clock::time_point start_;
  std::map<const SizeSearch*, std::uint64_t> reused_;
  std::uint64_t ran_ = 0;
  bool estimate_announced_ = false;
};

}  // namespace tuner
