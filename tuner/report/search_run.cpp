// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/search_run.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

namespace tuner::report {
namespace {

/// A configuration of a run at a size.
struct Tried {
  std::string config_json;
  double seconds = 0;
  double own_s = 0;               ///< spent on it alone
  Outcome outcome = Outcome::ok;  ///< of the trial that stands, as its time
  std::optional<double> median_ns;
};

/// A run's configurations at each size, in the order in which they were first run.
std::map<std::string, std::vector<Tried>> tried_by_size(
    const std::vector<store::StoredTrial>& trials) {
  std::map<std::string, std::vector<Tried>> tried;
  std::map<std::pair<std::string, std::string>, std::size_t> places;
  for (const store::StoredTrial& stored : trials) {
    const store::TrialRecord& trial = stored.trial;
    std::vector<Tried>& of_size = tried[trial.problem];
    const auto [place, is_new] =
        places.try_emplace({trial.problem, trial.config_json}, of_size.size());
    if (is_new) {
      const double own_s = (trial.verify_ms + trial.measure_ms) / 1e3;
      of_size.push_back({trial.config_json, stored.elapsed_s, own_s, trial.outcome, {}});
    }
    Tried& one = of_size[place->second];
    one.outcome = trial.outcome;
    one.median_ns = trial.time ? std::optional(trial.time->median_ns) : std::nullopt;
  }
  return tried;
}

/// What a run could take over from those before it at a size.
struct Legacy {
  std::map<std::string, std::set<std::string>> results;  ///< configurations, by environment
  std::set<std::string> winners;                         ///< of whatever environment
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
    return one.median_ns && known->second.contains(one.config_json);
  };
  if (known != legacy.results.end() && std::ranges::none_of(tried, ran_again)) {
    return Beginning::with_results;
  }
  // The winner is compiled beside others and may be overtaken by some. Only with --fresh: a run
  // merged from a database of its own may find the same winner as early by itself.
  constexpr std::ptrdiff_t kFirst = 16;
  const auto count = std::min(kFirst, std::ssize(tried));
  const bool told = std::any_of(tried.begin(), tried.begin() + count, [&](const Tried& one) {
    return legacy.winners.contains(one.config_json);
  });
  const bool fresh = run.command.find(" --fresh") != std::string::npos;
  return told && fresh ? Beginning::with_winner : Beginning::anew;
}

void bequeath(Legacy& legacy, const store::RunRecord& run, const std::vector<Tried>& tried,
              const std::vector<store::FinalistRecord>& finalists) {
  for (const Tried& one : tried) {
    if (store::is_worth_another_try(one.outcome)) continue;
    legacy.results[key_of(run.environment)].insert(one.config_json);
  }
  const store::FinalistRecord* winner = winner_of(finalists);
  if (winner != nullptr && winner->role != "default") legacy.winners.insert(winner->config_json);
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
  search.exhausted = run.valid > 0 && tried.size() >= run.valid;
  double best_ns = HUGE_VAL;
  for (std::size_t i = 0; i < tried.size(); ++i) {
    if (tried[i].median_ns.value_or(HUGE_VAL) >= best_ns) continue;
    best_ns = *tried[i].median_ns;
    search.improvements.push_back(
        {static_cast<double>(i + 1), tried[i].seconds, best_ns, tried[i].config_json});
  }
  return search;
}

}  // namespace

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
    best_ns = improvement.median_ns;
  }
  return best_ns;
}

std::optional<double> SearchRun::reached(ProgressAxis progress, double ns) const {
  for (const Improvement& improvement : improvements) {
    if (improvement.median_ns <= ns) return at(improvement, progress);
  }
  return std::nullopt;
}

bool SearchRun::lasted(ProgressAxis progress, double limit) const {
  return exhausted || (progress == ProgressAxis::candidates ? candidates : wall_s) >= limit;
}

std::map<std::string, std::vector<SearchRun>> search_runs(
    const store::Store& store, std::span<const store::RunRecord> runs,
    std::span<const std::vector<store::StoredTrial>> trials) {
  std::map<std::string, std::vector<SearchRun>> searches;
  std::map<std::string, Legacy> legacies;  // by size
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const store::RunRecord& run = runs[i];
    for (const auto& [problem, tried] : tried_by_size(trials[i])) {
      SearchRun search = search_run(run, tried);
      Legacy& legacy = legacies[problem];
      search.beginning = beginning_of(run, tried, legacy);
      bequeath(legacy, run, tried, store.finalists(run.id, problem));
      searches[problem].push_back(std::move(search));
    }
  }
  return searches;
}

}  // namespace tuner::report
