// SPDX-License-Identifier: Apache-2.0
#include "tuner/lab/replay.hpp"

#include "tests/lab/recordings.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <set>

namespace tuner::lab {
namespace {

/// A bowl of 625 configurations with its lowest place inside, the corner beyond which nothing runs.
std::optional<double> bowl(const space::Config& config) {
  double time_ms = 1;
  std::uint32_t sum = 0;
  for (const std::uint32_t choice : config.choice) {
    const double from_best = static_cast<double>(choice) - 3;
    time_ms += from_best * from_best;
    sum += choice;
  }
  return sum > 14 ? std::nullopt : std::optional(time_ms);
}

double best_ms(const interop::Recording& recording, const Trace& trace) {
  double best_ms = std::numeric_limits<double>::infinity();
  for (const std::size_t trial : trace.trials) {
    best_ms = std::min(best_ms, recording.trials[trial].time_ms.value_or(best_ms));
  }
  return best_ms;
}

class ReplayOf : public testing::TestWithParam<std::string> {
 protected:
  [[nodiscard]] Replay run(const interop::Recording& recording, ReplayPlan plan) const {
    plan.strategy = GetParam();
    return Replayer(recording).run(plan);
  }

  const interop::Recording recording_ = recording_of(grid(4, 5), bowl);
};

TEST_P(ReplayOf, IsTheSameForTheSameSeed) {
  for (const std::size_t in_flight : {std::size_t{1}, std::size_t{16}}) {
    const ReplayPlan plan{
        .strategy = {}, .seed = 3, .max_evaluations = 200, .in_flight = in_flight};
    EXPECT_EQ(run(recording_, plan).trace.trials, run(recording_, plan).trace.trials);
  }
}

TEST_P(ReplayOf, EndsWhenTheSpaceIsExhaustedHavingTriedAllOfItOnce) {
  for (const std::size_t in_flight : {std::size_t{1}, std::size_t{128}}) {
    const Trace trace = run(recording_, {.strategy = {}, .seed = 1, .in_flight = in_flight}).trace;
    const std::set<std::size_t> tried(trace.trials.begin(), trace.trials.end());
    EXPECT_EQ(trace.trials.size(), recording_.trials.size());
    EXPECT_EQ(tried.size(), recording_.trials.size());
    EXPECT_EQ(best_ms(recording_, trace), 1);
  }
}

TEST_P(ReplayOf, EndsWhereNothingRuns) {
  const interop::Recording failing =
      recording_of(grid(4, 3), [](const space::Config&) { return std::nullopt; });
  EXPECT_EQ(run(failing, {.strategy = {}, .seed = 1}).trace.trials.size(), failing.trials.size());
}

TEST_P(ReplayOf, EndsAtTheBudget) {
  EXPECT_EQ(run(recording_, {.strategy = {}, .max_evaluations = 17}).trace.trials.size(), 17);
  const Replay timed = run(recording_, {.strategy = {}, .most_s = 9.5});
  EXPECT_EQ(timed.trace.trials.size(), 10);  // the tenth goes beyond it
  EXPECT_GE(timed.trace.elapsed_s.back(), 10);
  EXPECT_LT(timed.trace.elapsed_s.back(), 10.5);
  EXPECT_TRUE(std::ranges::is_sorted(timed.trace.elapsed_s));
}

TEST_P(ReplayOf, WorksWithASpaceOfOneConfiguration) {
  const interop::Recording one = recording_of(grid(3, 1), bowl);
  EXPECT_EQ(run(one, {}).trace.trials.size(), 1);
}

INSTANTIATE_TEST_SUITE_P(Strategies, ReplayOf, testing::ValuesIn(search::strategy_names()),
                         [](const auto& named) { return named.param; });

class ReplayOfLearning : public ReplayOf {};

TEST_P(ReplayOfLearning, FindsTheOptimumInAFractionOfTheSpace) {
  int found = 0;
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    const Replay replay = run(recording_, {.strategy = {}, .seed = seed, .max_evaluations = 200});
    found += best_ms(recording_, replay.trace) == 1 ? 1 : 0;
  }
  EXPECT_GE(found, 9);  // a random order finds it 3 times
}

INSTANTIATE_TEST_SUITE_P(Strategies, ReplayOfLearning,
                         testing::Values("differential_evolution", "genetic", "local_search",
                                         "particle_swarm", "simulated_annealing"),
                         [](const auto& named) { return named.param; });

TEST(Replayer, RefusesAStrategyThatIsNotThere) {
  const interop::Recording recording = recording_of(grid(1, 2), bowl);
  EXPECT_THAT(
      usage_error([&] { static_cast<void>(Replayer(recording).run({.strategy = "genetik"})); }),
      testing::HasSubstr("did you mean 'genetic'"));
}

}  // namespace
}  // namespace tuner::lab
