// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/commands.hpp"
#include "tuner/cli/format.hpp"
#include "tuner/cli/output.hpp"
#include "tuner/cli/table.hpp"
#include "tuner/cli/terminal.hpp"
#include "tuner/core/error.hpp"
#include "tuner/core/file.hpp"
#include "tuner/core/in_parallel.hpp"
#include "tuner/core/quantity.hpp"
#include "tuner/core/suggest.hpp"
#include "tuner/interop/recording_file.hpp"
#include "tuner/lab/replay.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <thread>
#include <vector>

namespace tuner::cli {
namespace {

/// The runs of one strategy on one recording, for consecutive seeds.
struct StrategyRuns {
  std::string strategy;
  std::uint64_t seed = 0;  ///< of the first
  std::vector<lab::Replay> runs;
};

/// What one run came to.
struct RunSummary {
  std::uint64_t seed = 0;
  std::size_t evaluations = 0;
  std::optional<double> best_ms;  ///< none when nothing ended ok
  double elapsed_s = 0;           ///< recorded costs and the strategy's own time
  double strategy_s = 0;
};

struct StrategyResult {
  std::string strategy;
  std::vector<RunSummary> runs;
  std::vector<double> standing;  ///< as Scale::standing; empty unless scored
};

/// All that was run on one recording.
struct ReplayResult {
  std::string file;
  std::string kernel;
  std::string device;
  std::size_t configurations = 0;
  std::optional<double> optimum_ms;  ///< none when nothing in it ended ok
  std::vector<StrategyResult> strategies;
};

using Align = Table::Align;

constexpr const char* kNoFigure = "–";

/// The faster of two, the first of which may be none.
std::optional<double> faster(std::optional<double> known, const interop::RecordedTrial& trial) {
  if (trial.outcome != Outcome::ok || !trial.time_ms) return known;
  return known ? std::min(*known, *trial.time_ms) : *trial.time_ms;
}

RunSummary run_summary(const interop::Recording& recording, const lab::Replay& run,
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

std::vector<double> standing(const lab::Scale& scale, const StrategyRuns& runs) {
  std::vector<lab::Trace> traces;
  for (const lab::Replay& run : runs.runs) traces.push_back(run.trace);
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

lab::Score score_of(const std::vector<double>& standing) {
  return lab::score(std::span(&standing, 1));
}

/// Random search was measured at −0.6 to −0.1 in smaller spaces, at −0.1 in larger ones.
constexpr std::uint64_t kManyConfigurations = 5000;

std::string table_of(const ReplayResult& result, const Terminal& terminal) {
  std::string title = result.file;
  if (!result.kernel.empty()) title += ": " + result.kernel;
  if (!result.device.empty()) title += " on " + result.device;
  Table table({{std::move(title)},
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
    table.add(
        {each.strategy,
         each.standing.empty() ? kNoFigure : fmt::format("{:.3f}", score_of(each.standing).mean),
         quantity::count(static_cast<std::uint64_t>(evaluations)),
         best_ms ? quantity::time(*best_ms * 1e6) : kNoFigure,
         best_ms ? fmt::format("×{:.3f}", *best_ms / *result.optimum_ms) : kNoFigure,
         quantity::time(own_time_s(each) * 1e9, 2),
         fmt::format("{:.2g} %", 100 * own_share(each))});
  }
  const bool is_scored = !result.strategies.front().standing.empty();
  return fmt::format("{}{}, {} each; figures are medians{}\n\n", table.text(terminal),
                     quantity::count(result.configurations, "configuration"),
                     quantity::count(result.strategies.front().runs.size(), "run"),
                     is_scored && result.configurations < kManyConfigurations
                         ? "; in so small a space random search itself scores below 0: compare "
                           "the strategies with each other"
                         : "");
}

/// The score of one of the strategies, by its place, over all recordings.
lab::Score score_over(std::span<const ReplayResult> results, std::size_t strategy) {
  std::vector<std::vector<double>> standings;
  for (const ReplayResult& result : results) {
    standings.push_back(result.strategies[strategy].standing);
  }
  return lab::score(standings);
}

bool scored(const ReplayResult& result) {
  return !result.strategies.front().standing.empty();
}

std::string table_of_all(std::span<const ReplayResult> results, const Terminal& terminal) {
  Table table({{fmt::format("all {} files", results.size())},
               {"score", Align::right},
               {"deviation over time", Align::right}});
  for (std::size_t i = 0; i < results.front().strategies.size(); ++i) {
    const lab::Score all = score_over(results, i);
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
    const lab::Score score = score_of(result.standing);
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

/// With a scale the runs are scored on it; throws Error(usage) when they cannot be.
ReplayResult summary(const std::filesystem::path& file, const interop::Recording& recording,
                     std::span<const StrategyRuns> runs, const lab::Scale* scale) {
  ReplayResult result{.file = file.stem().string(),
                      .kernel = recording.kernel,
                      .device = recording.device,
                      .configurations = recording.trials.size(),
                      .optimum_ms = {},
                      .strategies = {}};
  for (const interop::RecordedTrial& trial : recording.trials) {
    result.optimum_ms = faster(result.optimum_ms, trial);
  }
  for (const StrategyRuns& each : runs) {
    StrategyResult of_strategy{.strategy = each.strategy, .runs = {}, .standing = {}};
    std::uint64_t seed = each.seed;
    for (const lab::Replay& run : each.runs) {
      of_strategy.runs.push_back(run_summary(recording, run, seed++));
    }
    if (scale != nullptr) of_strategy.standing = standing(*scale, each);
    result.strategies.push_back(std::move(of_strategy));
  }
  return result;
}

/// A table for each recording and, of scored runs on several, one of them together.
std::string replay_text(std::span<const ReplayResult> results, const Terminal& terminal) {
  std::string text;
  for (const ReplayResult& result : results) text += table_of(result, terminal);
  if (results.size() > 1 && scored(results.front())) text += table_of_all(results, terminal);
  return text;
}

/// The document "tune.replay/1".
std::string replay_json(std::span<const ReplayResult> results) {
  Json document = {{"schema", "tune.replay/1"}, {"recordings", Json::array()}};
  for (const ReplayResult& result : results) {
    document["recordings"].push_back(recording_json(result));
  }
  if (!scored(results.front())) return json_text(document);
  document["scores"] = Json::array();
  for (std::size_t i = 0; i < results.front().strategies.size(); ++i) {
    const lab::Score all = score_over(results, i);
    document["scores"].push_back({{"strategy", results.front().strategies[i].strategy},
                                  {"score", all.mean},
                                  {"deviation", all.deviation}});
  }
  return json_text(document);
}

constexpr double kMargin = 1.1;  // runs go this far beyond the instants that are scored

/// A recording and what is needed to search it.
struct Field {
  explicit Field(const std::string& path)
      : file(path), recording(interop::read_recording(path)), replayer(recording) {}

  std::filesystem::path file;
  interop::Recording recording;
  lab::Replayer replayer;
};

void check(const ReplayOptions& options) {
  const std::vector<std::string> known = search::strategy_names();
  for (const std::string& strategy : options.strategies) {
    if (std::ranges::find(known, strategy) != known.end()) continue;
    throw Error(ErrorCode::usage, fmt::format("--strategy: there is no strategy '{}'{}", strategy,
                                              did_you_mean(strategy, known)));
  }
}

/// What one run may cost: as the options say, else what scoring needs.
lab::ReplayPlan plan(const ReplayOptions& options, const interop::Recording& recording) {
  lab::ReplayPlan plan;
  plan.max_evaluations = options.max_evaluations;
  plan.in_flight = options.in_flight;
  if (!options.max_time.empty()) {
    const auto most = parse_duration(options.max_time, "--max-time");
    plan.most_s = std::chrono::duration<double>(most).count();
  } else if (!options.max_evaluations) {
    plan.most_s = kMargin * lab::Scale(recording).budget_s();
  }
  return plan;
}

/// The runs of every strategy on one recording, in the order of the options and of the seeds.
std::vector<StrategyRuns> search(const Field& field, const ReplayOptions& options) {
  const lab::ReplayPlan common = plan(options, field.recording);
  std::vector<StrategyRuns> results;
  for (const std::string& strategy : options.strategies) {
    results.push_back({.strategy = strategy, .seed = options.seed, .runs = {}});
    results.back().runs.resize(options.repeats);
  }
  const std::size_t threads =
      options.jobs > 0 ? options.jobs : std::max(1U, std::thread::hardware_concurrency());
  in_parallel(threads, results.size() * options.repeats, [&](std::size_t i) {
    StrategyRuns& result = results[i / options.repeats];
    lab::ReplayPlan mine = common;
    mine.strategy = result.strategy;
    mine.seed = options.seed + i % options.repeats;
    result.runs[i % options.repeats] = field.replayer.run(mine);
  });
  return results;
}

/// One line for each run, as docs/reference/search.md describes.
std::string traces(const interop::Recording& recording, const std::vector<StrategyRuns>& results) {
  std::string lines;
  for (const StrategyRuns& result : results) {
    std::uint64_t seed = result.seed;
    for (const lab::Replay& run : result.runs) {
      Json keys = Json::array();
      for (const std::size_t trial : run.trace.trials) {
        keys.push_back(interop::cache_key(*recording.definition, recording.trials[trial].config));
      }
      const Json line = {{"strategy", result.strategy},
                         {"seed", seed++},
                         {"keys", std::move(keys)},
                         {"times", run.trace.elapsed_s}};
      lines += line.dump() + "\n";
    }
  }
  return lines;
}

/// Where the traces of each file go: into the file named, or with several into that directory, each
/// under the name of its recording.
std::vector<std::filesystem::path> trace_files(const ReplayOptions& options) {
  if (options.files.size() == 1) return {options.trace};
  std::map<std::filesystem::path, std::string> used;
  std::vector<std::filesystem::path> paths;
  for (const std::string& file : options.files) {
    auto path = options.trace / std::filesystem::path(file).stem();
    path += ".jsonl";
    const auto [other, is_new] = used.emplace(path, file);
    if (!is_new) {
      throw Error(ErrorCode::usage,
                  fmt::format("--trace: the traces of {} and {} would both be {}; replay them one "
                              "after the other, or rename one",
                              other->second, file, path.string()));
    }
    paths.push_back(std::move(path));
  }
  return paths;
}

}  // namespace

int replay(const CommonOptions& common, const ReplayOptions& options) {
  check(options);
  const auto trace_paths =
      options.trace.empty() ? std::vector<std::filesystem::path>{} : trace_files(options);
  std::vector<ReplayResult> results;
  for (std::size_t i = 0; i < options.files.size(); ++i) {
    const Field field(options.files[i]);
    const std::vector<StrategyRuns> runs = search(field, options);
    if (!trace_paths.empty()) write_file(trace_paths[i], traces(field.recording, runs));
    const auto scale = options.score ? std::optional(lab::Scale(field.recording)) : std::nullopt;
    results.push_back(summary(field.file, field.recording, runs, scale ? &*scale : nullptr));
  }
  if (common.json) {
    fmt::print("{}", replay_json(results));
  } else {
    const Output output(common);
    output.tell("{}", replay_text(results, output.terminal()));
  }
  return 0;
}

}  // namespace tuner::cli
