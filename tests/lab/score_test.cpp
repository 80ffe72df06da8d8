// SPDX-License-Identifier: Apache-2.0
#include "tuner/lab/score.hpp"

#include "tests/lab/recordings.hpp"
#include "tuner/core/error.hpp"
#include "tuner/core/file.hpp"
#include "tuner/core/json.hpp"
#include "tuner/interop/recording_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <filesystem>
#include <map>
#include <sstream>

namespace tuner::lab {
namespace {

const std::filesystem::path kRecorded = std::filesystem::path(TUNER_TEST_DATA) / "recorded";

/// The traces of a file by strategy.
std::map<std::string, std::vector<Trace>> read_traces(const std::filesystem::path& path,
                                                      const interop::Recording& recording) {
  std::map<std::string, std::size_t> trial_of;
  for (std::size_t i = 0; i < recording.trials.size(); ++i) {
    trial_of[interop::cache_key(*recording.definition, recording.trials[i].config)] = i;
  }
  std::map<std::string, std::vector<Trace>> traces;
  std::istringstream lines(read_file(path, 1 << 20));
  for (std::string line; std::getline(lines, line);) {
    const Json run = parse_json(line, path.string());
    Trace trace;
    for (const auto& key : run["keys"]) trace.trials.push_back(trial_of.at(key.get<std::string>()));
    trace.elapsed_s = run["times"].get<std::vector<double>>();
    traces[run["strategy"].get<std::string>()].push_back(std::move(trace));
  }
  return traces;
}

Score score_of_one(const Scale& scale, const std::vector<Trace>& runs) {
  const std::vector<double> standing = scale.standing(runs);
  return score(std::span(&standing, 1));
}

// What the methodology's own scoring, re-implemented in Python and checked against its package,
// says of the same files: score.py pnpoly.json pnpoly_traces.jsonl --json
TEST(Score, AgreesWithThePublishedMethodology) {
  const interop::Recording recording = interop::read_recording(kRecorded / "pnpoly.json");
  const Scale scale(recording);
  const auto traces = read_traces(kRecorded / "pnpoly_traces.jsonl", recording);
  const auto score_of = [&](const std::string& strategy) {
    return score_of_one(scale, traces.at(strategy));
  };
  EXPECT_NEAR(score_of("random").mean, -0.06473615865865165, 1e-9);
  EXPECT_NEAR(score_of("random").deviation, 0.2736, 1e-4);
  EXPECT_NEAR(score_of("local_search").mean, 0.292468162187962, 1e-9);
  EXPECT_NEAR(score_of("local_search").deviation, 0.1654, 1e-4);
}

TEST(Score, IsOneForTheOptimumAtOnce) {
  const interop::Recording recording = interop::read_recording(kRecorded / "pnpoly.json");
  const Scale scale(recording);
  std::size_t best = 0;
  for (std::size_t i = 0; i < recording.trials.size(); ++i) {
    const auto& trial = recording.trials[i];
    if (trial.outcome == Outcome::ok && *trial.time_ms < *recording.trials[best].time_ms) best = i;
  }
  const Trace at_once{.trials = {best, 0},
                      .elapsed_s = {trial_costs_s(recording)[best], scale.budget_s()}};
  EXPECT_DOUBLE_EQ(score_of_one(scale, {at_once}).mean, 1);
}

TEST(Score, IsTheMeanOfTheSpacesAtEachInstantAndThenOverTime) {
  const Score both = score(std::vector<std::vector<double>>{{0, 1, 1, 1}, {0, 0, 0, 1}});
  EXPECT_DOUBLE_EQ(both.mean, 0.5);
  EXPECT_DOUBLE_EQ(both.deviation, std::sqrt(0.125));
}

TEST(Score, LeavesOutInstantsAtWhichRandomSearchHasTheOptimumToo) {
  EXPECT_DOUBLE_EQ(score(std::vector<std::vector<double>>{{0.5, std::nan("")}}).mean, 0.5);
}

TEST(Score, RefusesWhatCannotBeScored) {
  const interop::Recording failing =
      recording_of(grid(2, 2), [](const space::Config&) { return std::nullopt; });
  EXPECT_THAT(usage_error([&] { Scale{failing}; }), testing::HasSubstr("nothing"));
  const interop::Recording recording = interop::read_recording(kRecorded / "pnpoly.json");
  const Scale scale(recording);
  const Trace late{.trials = {0}, .elapsed_s = {2 * scale.budget_s()}};
  EXPECT_THAT(usage_error([&] { static_cast<void>(scale.standing(std::span(&late, 1))); }),
              testing::HasSubstr("no run has a result between"));
}

}  // namespace
}  // namespace tuner::lab
