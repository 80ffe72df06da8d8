// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/commands.hpp"
#include "tuner/cli/format.hpp"
#include "tuner/cli/output.hpp"
#include "tuner/cli/replay_result.hpp"
#include "tuner/core/error.hpp"
#include "tuner/core/file.hpp"
#include "tuner/core/in_parallel.hpp"
#include "tuner/core/suggest.hpp"
#include "tuner/interop/recording_file.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>
#include <thread>

namespace tuner::cli {
namespace {

constexpr double kMargin = 1.1;  // runs go this far beyond the instants that are scored

/// A recording and what is needed to search it.
struct Field {
  explicit Field(const std::string& path)
      : file(path), recording(interop::read_recording(path)), replayer(recording) {}

  std::filesystem::path file;
  search::Recording recording;
  search::Replayer replayer;
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
search::ReplayPlan plan(const ReplayOptions& options, const search::Recording& recording) {
  search::ReplayPlan plan;
  plan.max_evaluations = options.max_evaluations;
  plan.in_flight = options.in_flight;
  if (!options.max_time.empty()) {
    const auto most = parse_duration(options.max_time, "--max-time");
    plan.most_s = std::chrono::duration<double>(most).count();
  } else if (!options.max_evaluations) {
    plan.most_s = kMargin * search::Scale(recording).budget_s();
  }
  return plan;
}

/// The runs of every strategy on one recording, in the order of the options and of the seeds.
std::vector<StrategyRuns> search(const Field& field, const ReplayOptions& options) {
  const search::ReplayPlan common = plan(options, field.recording);
  std::vector<StrategyRuns> results;
  for (const std::string& strategy : options.strategies) {
    results.push_back({.strategy = strategy, .seed = options.seed, .runs = {}});
    results.back().runs.resize(options.repeats);
  }
  const std::size_t threads =
      options.jobs > 0 ? options.jobs : std::max(1U, std::thread::hardware_concurrency());
  in_parallel(threads, results.size() * options.repeats, [&](std::size_t i) {
    StrategyRuns& result = results[i / options.repeats];
    search::ReplayPlan mine = common;
    mine.strategy = result.strategy;
    mine.seed = options.seed + i % options.repeats;
    result.runs[i % options.repeats] = field.replayer.run(mine);
  });
  return results;
}

/// One line for each run, as docs/reference/search.md describes.
std::string traces(const search::Recording& recording, const std::vector<StrategyRuns>& results) {
  std::string lines;
  for (const StrategyRuns& result : results) {
    std::uint64_t seed = result.seed;
    for (const search::Replay& run : result.runs) {
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
    const auto scale = options.score ? std::optional(search::Scale(field.recording)) : std::nullopt;
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
