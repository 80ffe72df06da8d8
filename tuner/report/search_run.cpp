// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/search_run.hpp"

#include "tuner/core/series_share.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace tuner::report {
namespace {

/// A configuration of a run at a size.
struct Tried {
  std::uint32_t config = 0;
  double seconds = 0;
  double own_s = 0;               ///< spent on it alone
  Outcome outcome = Outcome::ok;  ///< of the trial that stands, as its time
  std::optional<double> ns;
};

/// The configurations of one run's trials, in the order in which they were first run.
std::vector<Tried> tried_in(std::span<const ReportedTrial> trials) {
  std::vector<Tried> tried;
  std::unordered_map<std::uint32_t, std::size_t> places;
  for (const ReportedTrial& trial : trials) {
    const auto [place, is_new] = places.try_emplace(trial.config, tried.size());
    if (is_new) tried.push_back({trial.config, trial.elapsed_s, trial.own_s, trial.outcome, {}});
    Tried& one = tried[place->second];
    one.outcome = trial.outcome;
    one.ns = trial.time ? std::optional(trial.ranking_ns) : std::nullopt;
  }
  return tried;
}

/// What a run could take over from those before it at a size.
struct Legacy {
  std::map<std::string, std::unordered_set<std::uint32_t>> results;  ///< by environment
  std::set<std::uint32_t> winners;                                   ///< of whatever environment
};

std::string key_of(const space::EnvironmentInfo& environment) {
  return environment.driver + '\n' + environment.compiler + '\n' + environment.library + '\n' +
         environment.tool;
}

/// Nothing of a run tells what it knew, but what it ran does: every search begins with the
/// default configuration, so that one which ran nothing of what was known has reused it. A lost
/// finalist, which ends as a failure, is run again either way.
Beginning beginning_of(const store::RunRecord& run, const std::vector<Tried>& tried,
                       const Legacy& legacy) {
  const auto known = legacy.results.find(key_of(run.environment));
  const auto ran_again = [&](const Tried& one) {
    return one.ns && known->second.contains(one.config);
  };
  if (known != legacy.results.end() && std::ranges::none_of(tried, ran_again)) {
    return Beginning::with_results;
  }
  // The winner is compiled beside others and may be overtaken by some. Only with --fresh: a run
  // merged from a database of its own may find the same winner as early by itself.
  constexpr std::ptrdiff_t kFirst = 16;
  const auto count = std::min(kFirst, std::ssize(tried));
  const bool told = std::any_of(tried.begin(), tried.begin() + count, [&](const Tried& one) {
    return legacy.winners.contains(one.config);
  });
  const bool fresh = run.command.find(" --fresh") != std::string::npos;
  return told && fresh ? Beginning::with_winner : Beginning::anew;
}

void bequeath(Legacy& legacy, const store::RunRecord& run, const std::vector<Tried>& tried,
              const std::vector<store::FinalistRecord>& finalists, const Configurations& configs) {
  for (const Tried& one : tried) {
    if (store::is_worth_another_try(one.outcome)) continue;
    legacy.results[key_of(run.environment)].insert(one.config);
  }
  const store::FinalistRecord* winner = winner_of(finalists);
  if (winner == nullptr || winner->role == "default") return;
  if (const auto config = configs.find(winner->config)) legacy.winners.insert(*config);
}

SearchRun search_run(const store::RunRecord& run, const std::vector<Tried>& tried) {
  SearchRun search;
  search.run = run.uuid.substr(0, 8);
  search.strategy = run.strategy;
  search.environment = run.environment;
  search.candidates = static_cast<double>(tried.size());
  search.began_s = std::max(0.0, tried.front().seconds - tried.front().own_s);
  search.seconds = tried.back().seconds;
  search.wall_s = std::max(run.wall_s, search.seconds);
  double best_ns = HUGE_VAL;
  for (std::size_t i = 0; i < tried.size(); ++i) {
    if (tried[i].ns.value_or(HUGE_VAL) >= best_ns) continue;
    best_ns = *tried[i].ns;
    search.improvements.push_back(
        {static_cast<double>(i + 1), tried[i].seconds, best_ns, tried[i].config});
  }
  return search;
}

}  // namespace

void rank_trials(std::vector<ReportedTrial>& trials) {
  SeriesShare share;
  for (const ReportedTrial& trial : trials) {
    if (trial.time) share.learn(trial.time->median_ns, trial.series_ns);
  }
  for (ReportedTrial& trial : trials) {
    if (trial.time) trial.ranking_ns = share.ranking_ns(trial.time->median_ns, trial.series_ns);
  }
}

const store::FinalistRecord* winner_of(std::span<const store::FinalistRecord> finalists) {
  const auto is_winner = [](const store::FinalistRecord& it) {
    return !it.role.starts_with("library") && it.ratio_to_best == 1 && it.ratio_low == 1 &&
           it.ratio_high == 1;
  };
  const auto found = std::ranges::find_if(finalists, is_winner);
  return found == finalists.end() ? nullptr : &*found;
}

double at(const Improvement& improvement, ProgressAxis progress) {
  return progress == ProgressAxis::candidates ? improvement.candidates : improvement.seconds;
}

std::optional<double> SearchRun::best_by(ProgressAxis progress, double limit) const {
  std::optional<double> best_ns;
  for (const Improvement& improvement : improvements) {
    if (at(improvement, progress) > limit) break;
    best_ns = improvement.ns;
  }
  return best_ns;
}

std::optional<double> SearchRun::reached(ProgressAxis progress, double ns) const {
  for (const Improvement& improvement : improvements) {
    if (improvement.ns <= ns) return at(improvement, progress);
  }
  return std::nullopt;
}

bool SearchRun::lasted(ProgressAxis progress, double limit) const {
  return exhausted || (progress == ProgressAxis::candidates ? candidates : wall_s) >= limit;
}

std::vector<SearchRun> search_runs(const store::Store& store,
                                   std::span<const store::RunRecord> runs,
                                   const std::string& problem, const Configurations& configs,
                                   std::span<const ReportedTrial> trials) {
  std::vector<SearchRun> searches;
  Legacy legacy;
  for (std::size_t first = 0; first < trials.size();) {
    const std::uint32_t of_run = trials[first].run;
    std::size_t end = first;
    while (end < trials.size() && trials[end].run == of_run) ++end;
    const std::vector<Tried> tried = tried_in(trials.subspan(first, end - first));
    const store::RunRecord& run = runs[of_run];
    SearchRun search = search_run(run, tried);
    search.beginning = beginning_of(run, tried, legacy);
    bequeath(legacy, run, tried, store.finalists(run.id, problem), configs);
    // A run does not try again what earlier ones did.
    const std::size_t known =
        std::max(tried.size(), legacy.results[key_of(run.environment)].size());
    search.exhausted = run.valid > 0 && known >= run.valid;
    searches.push_back(std::move(search));
    first = end;
  }
  return searches;
}

}  // namespace tuner::report
