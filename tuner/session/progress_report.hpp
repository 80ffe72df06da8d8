// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/session/observer.hpp"
#include "tuner/session/session.hpp"
#include "tuner/session/size_search.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string_view>

namespace tuner::session {

/// Tells an observer where a run stands, and estimates how long it will take. May be used from any
/// thread: the cards of a run share one.
class ProgressReport {
 public:
  /// The problem, the observer and the plan must outlive it. `planned`: trials at all sizes.
  ProgressReport(const family::Problem& problem, std::uint64_t planned, std::size_t cards,
                 Observer& observer, const RunPlan& plan,
                 std::chrono::steady_clock::time_point start)
      : problem_(problem),
        planned_(planned),
        cards_(cards),
        observer_(observer),
        plan_(plan),
        start_(start) {}

  /// A trial that was run, on the card of this name.
  void ran(const SizeSearch& search, const store::TrialRecord& trial, bool new_best,
           std::string_view card);
  /// A trial whose result was taken from the database.
  void reused(const SizeSearch& search, const store::TrialRecord& trial, bool new_best,
              std::string_view card);
  /// That the library takes about so long at the size of a search.
  void timed_library(const SizeSearch& search, double ns);
  [[nodiscard]] std::uint64_t reused(const SizeSearch& search) const;
  /// From now on `cards` cards take part.
  void set_cards(std::size_t cards);
  /// A final round took this time, which does not count as search time.
  void held_final(std::chrono::steady_clock::duration time);

 private:
  /// What is counted of a search.
  struct Counts {
    std::uint64_t evaluated = 0;
    std::map<Outcome, std::uint64_t> outcomes;
  };
  [[nodiscard]] Progress progress(const SizeSearch& search, const store::TrialRecord& trial,
                                  bool new_best, std::string_view card);
  [[nodiscard]] std::optional<std::chrono::milliseconds> remaining(const Progress& progress) const;
  void tell(Progress progress);

  const family::Problem& problem_;
  std::uint64_t planned_;
  std::size_t cards_;
  Observer& observer_;
  const RunPlan& plan_;
  std::chrono::steady_clock::time_point start_;
  mutable std::mutex mutex_;
  std::chrono::steady_clock::duration finals_{};
  std::map<const SizeSearch*, Counts> counts_;
  Counts all_;
  std::map<const SizeSearch*, std::uint64_t> reused_;
  std::map<const SizeSearch*, double> library_ns_;
  std::uint64_t ran_ = 0;
  bool estimate_announced_ = false;
};

}  // namespace tuner::session
