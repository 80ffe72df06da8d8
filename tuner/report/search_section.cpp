// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/size_sections.hpp"
#include "tuner/report/table.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace tuner::report {
namespace {

constexpr double kNearer = 1.03;  // of the best known, as kNear
constexpr double kEarlySeconds = 60, kEarlyCandidates = 200;
constexpr double kNotReached = HUGE_VAL;

/// The searches of one strategy that may be compared.
struct StrategyRuns {
  std::string strategy;
  std::vector<const SearchRun*> runs;
};

/// The searches of a size: what is compared, with what, and what is not.
struct StrategyComparison {
  std::vector<StrategyRuns> strategies;  ///< the soonest to come near first
  double best_ns = kNotReached;          ///< the fastest trial of any of its searches
  std::uint64_t with_results = 0, with_winner = 0, of_other_environments = 0;
};

/// Lowest, median and highest of a number of each run; kNotReached where there is none.
struct Spread {
  double low = kNotReached, median = kNotReached, high = kNotReached;

  bool operator==(const Spread&) const = default;
};

template <class Value>
Spread spread_of(const StrategyRuns& strategy, const Value& value) {
  std::vector<double> values;
  values.reserve(strategy.runs.size());
  for (const SearchRun* run : strategy.runs) values.push_back(value(*run).value_or(kNotReached));
  if (values.empty()) return {};
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  const double median =
      values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
  return {values.front(), median, values.back()};
}

Spread reached(const StrategyRuns& strategy, ProgressAxis progress, double ns) {
  return spread_of(strategy, [&](const SearchRun& run) { return run.reached(progress, ns); });
}

Spread best_by(const StrategyRuns& strategy, ProgressAxis progress, double limit) {
  return spread_of(strategy, [&](const SearchRun& run) { return run.best_by(progress, limit); });
}

std::uint64_t count_reached(const StrategyRuns& strategy, double ns) {
  return static_cast<std::uint64_t>(
      std::ranges::count_if(strategy.runs, [ns](const SearchRun* run) {
        return run->reached(ProgressAxis::candidates, ns).has_value();
      }));
}

/// A median between two counts as the larger one.
std::uint64_t whole_trials(double median) {
  return static_cast<std::uint64_t>(std::ceil(median));
}

void put_in_order(StrategyComparison& comparison) {
  const auto rank = [&](const StrategyRuns& strategy) {
    return std::tuple(
        reached(strategy, ProgressAxis::candidates, kNearer * comparison.best_ns).median,
        best_by(strategy, ProgressAxis::candidates, kNotReached).median, strategy.strategy);
  };
  std::ranges::sort(comparison.strategies, {}, rank);
}

StrategyComparison comparison_of(const SizeHistory& size) {
  StrategyComparison comparison;
  std::map<std::string, StrategyRuns> by_name;
  for (const SearchRun& run : size.searches) {
    if (run.environment != size.searches.back().environment) {
      ++comparison.of_other_environments;
      continue;
    }
    if (!run.improvements.empty()) {
      comparison.best_ns = std::min(comparison.best_ns, run.improvements.back().ns);
    }
    if (run.beginning == Beginning::with_results) {
      ++comparison.with_results;
    } else if (run.beginning == Beginning::with_winner) {
      ++comparison.with_winner;
    } else {
      by_name[run.strategy].runs.push_back(&run);
    }
  }
  for (auto& [name, strategy] : by_name) {
    strategy.strategy = name;
    comparison.strategies.push_back(std::move(strategy));
  }
  put_in_order(comparison);
  return comparison;
}

// ---- the table ----------------------------------------------------------------------------------

Json finite(double value) {
  return cell(value < kNotReached ? std::optional(value) : std::nullopt);
}

/// Lowest, median and highest best after so long, of the runs that searched as long.
Spread best_after(const StrategyRuns& strategy, ProgressAxis progress, double limit) {
  StrategyRuns lasting = strategy;
  std::erase_if(lasting.runs, [&](const SearchRun* run) { return !run->lasted(progress, limit); });
  return best_by(lasting, progress, limit);
}

Json strategy_row(const StrategyRuns& strategy, double best_ns) {
  Json row = {strategy.strategy, strategy.runs.size()};
  for (const double factor : {kNear, kNearer}) {
    const double ns = factor * best_ns;
    row.push_back(count_reached(strategy, ns));
    const double candidates = reached(strategy, ProgressAxis::candidates, ns).median;
    row.push_back(candidates < kNotReached ? Json(whole_trials(candidates)) : Json());
    row.push_back(finite(reached(strategy, ProgressAxis::seconds, ns).median));
  }
  for (const auto& [progress, limit] : {std::pair(ProgressAxis::seconds, kEarlySeconds),
                                        std::pair(ProgressAxis::candidates, kEarlyCandidates)}) {
    const Spread spread = best_after(strategy, progress, limit);
    for (const double ns : {spread.median, spread.low, spread.high}) {
      row.push_back(finite(ns / best_ns));
    }
  }
  return row;
}

Json search_table(const StrategyComparison& comparison) {
  Json table = make_table({{"strategy", "Strategy", "text"},
                           {"runs", "Runs", "count"},
                           {"reached_5", "Within 5\u00a0%", "count"},
                           {"candidates_5", "Trials", "count"},
                           {"seconds_5", "After", "duration"},
                           {"reached_3", "Within 3\u00a0%", "count"},
                           {"candidates_3", "Trials", "count"},
                           {"seconds_3", "After", "duration"},
                           {"best_60s", "Best at 60\u00a0s", "factor"},
                           {"best_60s_low", "from", "factor"},
                           {"best_60s_high", "to", "factor"},
                           {"best_200", "At 200 trials", "factor"},
                           {"best_200_low", "from", "factor"},
                           {"best_200_high", "to", "factor"}});
  if (comparison.best_ns == kNotReached) return table;
  for (const StrategyRuns& strategy : comparison.strategies) {
    table["rows"].push_back(strategy_row(strategy, comparison.best_ns));
  }
  return table;
}

// ---- the curves ---------------------------------------------------------------------------------

/// Best so far of a strategy's runs where it changes, and where the last of them ends. A
/// run that ended earlier stays at what it found.
Json curve(const StrategyRuns& strategy, ProgressAxis progress, double best_ns) {
  std::set<double> places;
  double end = 0;
  for (const SearchRun* run : strategy.runs) {
    for (const Improvement& improvement : run->improvements) {
      places.insert(at(improvement, progress));
    }
    end = std::max(end, progress == ProgressAxis::candidates ? run->candidates : run->seconds);
  }
  places.insert(end);
  Json columns = {{"at", Json::array()},
                  {"low", Json::array()},
                  {"median", Json::array()},
                  {"high", Json::array()}};
  Spread last;
  for (const double place : places) {
    const Spread spread = best_by(strategy, progress, place);
    if (spread == std::exchange(last, spread) && place != end) continue;
    columns["at"].push_back(rounded(place));
    columns["low"].push_back(finite(spread.low / best_ns));
    columns["median"].push_back(finite(spread.median / best_ns));
    columns["high"].push_back(finite(spread.high / best_ns));
  }
  return columns;
}

Json curves_of(const StrategyComparison& comparison) {
  Json curves = Json::array();
  for (const StrategyRuns& strategy : comparison.strategies) {
    curves.push_back(
        Json{{"strategy", strategy.strategy},
             {"runs", strategy.runs.size()},
             {"candidates", curve(strategy, ProgressAxis::candidates, comparison.best_ns)},
             {"seconds", curve(strategy, ProgressAxis::seconds, comparison.best_ns)}});
  }
  return curves;
}

}  // namespace

Json search_section(const SizeHistory& size) {
  const StrategyComparison comparison = comparison_of(size);
  Json section = make_section("search", search_table(comparison));
  section["best_ns"] = finite(comparison.best_ns);
  section["curves"] = curves_of(comparison);
  section["left_out"] = {comparison.with_results, comparison.with_winner,
                         comparison.of_other_environments};
  section["near"] = {kNear, kNearer};
  return section;
}

}  // namespace tuner::report
