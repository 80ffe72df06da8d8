// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/core/series_share.hpp"
#include "tuner/family/family.hpp"
#include "tuner/search/strategy.hpp"
#include "tuner/store/records.hpp"

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace tuner::session {

/// A configuration that ended `ok`, with its screening time.
struct Ranked {
  space::Config config;
  double median_ns = 0;  ///< cold
  double ranked_ns = 0;  ///< what it is ranked by
};

/// What is known before a search begins.
struct PriorKnowledge {
  std::optional<space::Config> incumbent = {};        ///< what was best before at this size
  std::vector<space::Config> winners_at_size = {};    ///< on other devices or as shipped
  std::vector<space::Config> winners_elsewhere = {};  ///< at any size or device, likeliest first
  std::vector<space::Config> recommended = {};        ///< by the kernel's author
  std::map<std::string, store::TrialRecord> trials =
      {};  ///< standing results, by canonical configuration
};

/// The search at one size: which configuration comes next, and what is known so far.
class SizeSearch {
 public:
  /// Take part in the final round whatever their times: the default and what was best before.
  struct RequiredFinalists {
    space::Config default_config;
    std::optional<space::Config> incumbent;
  };

  /// Whatever the strategy, the required finalists are asked first, then what has a result already,
  /// the fastest first, then what won at this size elsewhere, at sizes nearby in this run,
  /// and elsewhere; it learns from all of them.
  SizeSearch(space::Size size, space::Space space, std::string_view strategy, std::uint64_t seed,
             PriorKnowledge prior, std::optional<std::uint64_t> max_evaluations);
  SizeSearch(const SizeSearch&) = delete;
  SizeSearch& operator=(const SizeSearch&) = delete;

  /// The next configuration to evaluate; none when the space or the budget is exhausted or the
  /// strategy waits for answers. `budget` is the run's; the strategy is given the used share of
  /// evaluations of this search if that is larger.
  [[nodiscard]] std::optional<space::Config> next(search::Budget budget = {});
  /// Before anything is asked: what won at sizes nearby in this very run, the likeliest first.
  void expect(const std::vector<space::Config>& winners_nearby);
  /// Before anything is asked: evaluates the required finalists and what has a result already.
  void limit_to_known();
  /// Has a configuration asked next, unless it was already or is not in the space.
  void suggest(const space::Config& config);
  /// Has a configuration that was asked before asked next once more, and run even where its result
  /// is known.
  void ask_again(const space::Config& config);
  /// The stored result of a configuration, if it need not be run again.
  [[nodiscard]] const store::TrialRecord* known(const std::string& config_json) const;
  /// Stores the trial of a configuration, in place of an earlier one.
  /// Returns whether it is the first of ranking() now.
  bool record(const space::Config& config, const store::TrialRecord& trial);
  /// Ends the search and frees the strategy. Results are kept.
  void close();
  [[nodiscard]] bool is_closed() const { return strategy_ == nullptr; }

  [[nodiscard]] const space::Size& size() const { return size_; }
  [[nodiscard]] const space::Space& space() const { return space_; }
  [[nodiscard]] const RequiredFinalists& required_finalists() const { return required_finalists_; }
  [[nodiscard]] std::uint64_t planned() const;
  [[nodiscard]] std::uint64_t recorded() const { return trials_.size(); }
  [[nodiscard]] const std::map<Outcome, std::uint64_t>& outcomes() const { return outcomes_; }
  /// "compile_error: saxpy.cu:3:1: error: …" of the first trial that did not end `ok`, in one line;
  /// empty where all did.
  [[nodiscard]] const std::string& first_failure() const { return first_failure_; }
  /// Whether the two that were asked first have results: the default and the likeliest.
  [[nodiscard]] bool has_tried_the_first() const;
  [[nodiscard]] std::uint64_t known_count() const { return known_.size(); }
  /// How many results in a row, up to the last, have brought nothing faster by more than 0.5 %.
  [[nodiscard]] std::uint64_t without_improvement() const { return without_improvement_; }
  /// Has patience begin anew.
  void restart_patience() { without_improvement_ = 0; }
  /// The fastest cold median so far, of the results that still stand.
  [[nodiscard]] std::optional<double> best_ns() const;
  /// The results that ended `ok`, fastest first, ties by configuration: by their times in series,
  /// as in the final round. Of what was not timed so, the cold median counts as much less as it is
  /// for the fastest in series.
  [[nodiscard]] std::vector<Ranked> ranking() const;
  /// What a trial with a time is ranked by; the time that the strategy receives.
  [[nodiscard]] double ranking_ns(const store::TrialRecord& trial) const;
  [[nodiscard]] const store::TrialRecord& trial(const space::Config& config) const {
    return trials_.at(config);
  }
  [[nodiscard]] bool ended_ok(const space::Config& config) const;

 private:
  void queue_known();
  bool leads_now(const space::Config& config, const store::TrialRecord& trial, bool reordered);
  /// What to ask next, if it was not asked before.
  [[nodiscard]] std::optional<space::Config> proposed(search::Budget budget);
  [[nodiscard]] search::Budget tightest(search::Budget budget) const;

  space::Size size_;
  space::Space space_;
  RequiredFinalists required_finalists_;
  std::unique_ptr<search::Strategy> strategy_;       // none once it is over
  std::map<std::string, store::TrialRecord> known_;  // by canonical configuration
  std::optional<std::uint64_t> max_evaluations_;
  std::deque<space::Config> queued_;
  // Earlier winners, asked once nothing is queued: won_at_size_ of this size first; behind these
  // expect() inserts those of nearby sizes.
  std::deque<space::Config> likely_;
  std::size_t won_at_size_;
  std::set<space::Config> asked_;
  std::vector<space::Config> first_;  // of these, at most two
  std::map<space::Config, store::TrialRecord> trials_;
  std::map<Outcome, std::uint64_t> outcomes_;
  std::string first_failure_;
  std::multiset<double> times_ns_;  // of what ended ok
  SeriesShare share_;
  std::optional<space::Config> front_;  // of ranking()
  std::optional<double> noticed_ns_;    // the fastest when it was last noticeably faster
  std::uint64_t without_improvement_ = 0;
};

}  // namespace tuner::session
