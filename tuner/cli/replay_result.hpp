// SPDX-License-Identifier: Apache-2.0
// Internal to cli: what `tune replay` says of its runs.
#pragma once

#include "tuner/cli/terminal.hpp"
#include "tuner/search/replay.hpp"

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace tuner::cli {

/// The runs of one strategy on one recording, for consecutive seeds.
struct StrategyRuns {
  std::string strategy;
  std::uint64_t seed = 0;  ///< of the first
  std::vector<search::Replay> runs;
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

/// With a scale the runs are scored on it; throws Error(usage) when they cannot be.
[[nodiscard]] ReplayResult summary(const std::filesystem::path& file,
                                   const search::Recording& recording,
                                   std::span<const StrategyRuns> runs, const search::Scale* scale);

/// A table for each recording and, of scored runs on several, one of them together.
[[nodiscard]] std::string replay_text(std::span<const ReplayResult> results,
                                      const Terminal& terminal);
/// The document "tune.replay/1".
[[nodiscard]] std::string replay_json(std::span<const ReplayResult> results);

}  // namespace tuner::cli
