// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/replay_result.hpp"

#include "tuner/cli/output.hpp"
#include "tuner/cli/table.hpp"
#include "tuner/core/quantity.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

namespace tuner::cli {
namespace {

using Align = Table::Align;

constexpr const char* kNone = "–";

/// The faster of two, the first of which may be none.
std::optional<double> faster(std::optional<double> known, const search::RecordedTrial& trial) {
  if (trial.outcome != Outcome::ok || !trial.time_ms) return known;
  return known ? std::min(*known, *trial.time_ms) : *trial.time_ms;
}

RunSummary run_summary(const search::Recording& recording, const search::Replay& run,
                       std::uint64_t seed) {
  RunSummary summary{.seed = seed,
                     .evaluations = run.trace.trials.size(),
                     .best_ms = {},
                     .elapsed_s = run.trace.elapsed_s.empty() ? 0 : run.trace.elapsed_s.back(),
                     .strategy_s = run.strategy_s};
  for (const std::size_t trial : run.trace.trials) {
    summary.best_ms = faster(summary.best_ms, recording.trials[trial]);
  }
  return summary;
}

std::vector<double> standing(const search::Scale& scale, const StrategyRuns& runs) {
  std::vector<search::Trace> traces;
  for (const search::Replay& run : runs.runs) traces.push_back(run.trace);
  return scale.standing(traces);
}

/// Of a number for each run, smaller ones first; the upper of the middle two.
double median_of_runs(const StrategyResult& result,
                      const std::function<double(const RunSummary&)>& number) {
  std::vector<double> values;
  for (const RunSummary& run : result.runs) values.push_back(number(run));
  const auto middle = values.begin() + std::ssize(values) / 2;
  std::ranges::nth_element(values, middle);
  return *middle;
}

double own_time_s(const StrategyResult& result) {
  return median_of_runs(result, [](const RunSummary& run) {
    return run.strategy_s / static_cast<double>(std::max<std::size_t>(1, run.evaluations));
  });
}

/// The strategy's share of the time that its runs were given.
double own_share(const StrategyResult& result) {
  double own_s = 0;
  double all_s = 0;
  for (const RunSummary& run : result.runs) {
    own_s += run.strategy_s;
    all_s += run.elapsed_s;
  }
  return all_s > 0 ? own_s / all_s : 0;
}

/// The best of the median run; none when that run found nothing.
std::optional<double> typical_best_ms(const StrategyResult& result) {
  const double best_ms = median_of_runs(result, [](const RunSummary& run) {
    return run.best_ms.value_or(std::numeric_limits<double>::infinity());
  });
  return std::isfinite(best_ms) ? std::optional(best_ms) : std::nullopt;
}

search::Score score_of(const std::vector<double>& standing) {
  return search::score(std::span(&standing, 1));
}

std::string table_of(const ReplayResult& result, const Terminal& terminal) {
  Table table({{fmt::format("{}: {} on {}", result.file, result.kernel, result.device)},
               {"score", Align::right},
               {"evaluations", Align::right},
               {"best", Align::right},
               {"vs optimum", Align::right},
               {"own time", Align::right},
               {"its share", Align::right}});
  for (const StrategyResult& each : result.strategies) {
    const auto best_ms = typical_best_ms(each);
    const double evaluations = median_of_runs(
        each, [](const RunSummary& run) { return static_cast<double>(run.evaluations); });
    table.add({each.strategy,
               each.standing.empty() ? kNone : fmt::format("{:.3f}", score_of(each.standing).mean),
               quantity::count(static_cast<std::uint64_t>(evaluations)),
               best_ms ? quantity::time(*best_ms * 1e6) : kNone,
               best_ms ? fmt::format("×{:.3f}", *best_ms / *result.optimum_ms) : kNone,
               quantity::time(own_time_s(each) * 1e9, 2),
               fmt::format("{:.2g} %", 100 * own_share(each))});
  }
  return fmt::format("{}{}, {} each; figures are medians\n\n", table.text(terminal),
                     quantity::count(result.configurations, "configuration"),
                     quantity::count(result.strategies.front().runs.size(), "run"));
}

/// The score of one of the strategies, by its place, over all recordings.
search::Score score_over(std::span<const ReplayResult> results, std::size_t strategy) {
  std::vector<std::vector<double>> standings;
  for (const ReplayResult& result : results) {
    standings.push_back(result.strategies[strategy].standing);
  }
  return search::score(standings);
}

bool scored(const ReplayResult& result) {
  return !result.strategies.front().standing.empty();
}

std::string table_of_all(std::span<const ReplayResult> results, const Terminal& terminal) {
  Table table({{fmt::format("all {} files", results.size())},
               {"score", Align::right},
               {"deviation over time", Align::right}});
  for (std::size_t i = 0; i < results.front().strategies.size(); ++i) {
    const search::Score all = score_over(results, i);
    table.add({results.front().strategies[i].strategy, fmt::format("{:.3f}", all.mean),
               fmt::format("{:.3f}", all.deviation)});
  }
  return table.text(terminal);
}

Json run_json(const RunSummary& run) {
  return {{"seed", run.seed},
          {"evaluations", run.evaluations},
          {"best_ms", number_or_null(run.best_ms)},
          {"elapsed_s", run.elapsed_s},
          {"strategy_s", run.strategy_s}};
}

Json strategy_json(const StrategyResult& result) {
  Json runs = Json::array();
  for (const RunSummary& run : result.runs) runs.push_back(run_json(run));
  Json json = {{"strategy", result.strategy},
               {"score", nullptr},
               {"deviation", nullptr},
               {"strategy_s_per_evaluation", own_time_s(result)},
               {"strategy_share", own_share(result)},
               {"runs", std::move(runs)}};
  if (!result.standing.empty()) {
    const search::Score score = score_of(result.standing);
    json["score"] = score.mean;
    json["deviation"] = score.deviation;
  }
  return json;
}

Json recording_json(const ReplayResult& result) {
  Json strategies = Json::array();
  for (const StrategyResult& each : result.strategies) strategies.push_back(strategy_json(each));
  return {{"file", result.file},
          {"kernel", result.kernel},
          {"device", result.device},
          {"configurations", result.configurations},
          {"optimum_ms", number_or_null(result.optimum_ms)},
          {"strategies", std::move(strategies)}};
}

}  // namespace

ReplayResult summary(const std::filesystem::path& file, const search::Recording& recording,
                     std::span<const StrategyRuns> runs, const search::Scale* scale) {
  ReplayResult result{.file = file.stem().string(),
                      .kernel = recording.kernel,
                      .device = recording.device,
                      .configurations = recording.trials.size(),
                      .optimum_ms = {},
                      .strategies = {}};
  for (const search::RecordedTrial& trial : recording.trials) {
    result.optimum_ms = faster(result.optimum_ms, trial);
  }
  for (const StrategyRuns& each : runs) {
    StrategyResult of_strategy{.strategy = each.strategy, .runs = {}, .standing = {}};
    std::uint64_t seed = each.seed;
    for (const search::Replay& run : each.runs) {
      of_strategy.runs.push_back(run_summary(recording, run, seed++));
    }
    if (scale != nullptr) of_strategy.standing = standing(*scale, each);
    result.strategies.push_back(std::move(of_strategy));
  }
  return result;
}

std::string replay_text(std::span<const ReplayResult> results, const Terminal& terminal) {
  std::string text;
  for (const ReplayResult& result : results) text += table_of(result, terminal);
  if (results.size() > 1 && scored(results.front())) text += table_of_all(results, terminal);
  return text;
}

std::string replay_json(std::span<const ReplayResult> results) {
  Json document = {{"schema", "tune.replay/1"}, {"recordings", Json::array()}};
  for (const ReplayResult& result : results) {
    document["recordings"].push_back(recording_json(result));
  }
  if (!scored(results.front())) return json_text(document);
  document["scores"] = Json::array();
  for (std::size_t i = 0; i < results.front().strategies.size(); ++i) {
    const search::Score all = score_over(results, i);
    document["scores"].push_back({{"strategy", results.front().strategies[i].strategy},
                                  {"score", all.mean},
                                  {"deviation", all.deviation}});
  }
  return json_text(document);
}

}  // namespace tuner::cli
