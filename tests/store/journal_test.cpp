// SPDX-License-Identifier: Apache-2.0
// Attempts, strikes and canaries.
#include "example_records.hpp"
#include "tuner/core/error.hpp"
#include "tuner/core/file.hpp"
#include "tuner/store/store.hpp"

#include <gmock/gmock.h>

#include <csignal>
#include <filesystem>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

namespace tuner::store {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;
using testing::SizeIs;

constexpr const char* kSize = "4096,4096,4096";

AttemptRecord attempt(const std::string& config) {
  return {.problem = kSize, .config_json = config};
}

class JournalTest : public testing::Test {
 protected:
  /// What a process that is killed in the middle of `work(store, run)` leaves behind.
  template <class Work>
  void die_during(Work work) const {
    const pid_t child = ::fork();
    if (child == 0) {
      Store store(path, kReadWrite);
      work(store, store.begin_run(example_subject(), example_run()));
      ::raise(SIGKILL);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status));
  }

  TemporaryDirectory directory;
  std::filesystem::path path = directory.path() / "tune.sqlite";
};

TEST_F(JournalTest, AddsAStrikeForTheCandidateOfAProcessThatEnded) {
  die_during([](Store& store, std::int64_t run) {
    store.begin_attempt(run, attempt("{\"A\":1}"));
    store.record_trial(run, example_trial("{\"A\":1}"), 0, attempt("{\"A\":2}"));
  });
  Store store(path, kReadWrite);
  const std::vector<StrikeRecord> struck = store.collect_dead_attempts();
  ASSERT_THAT(struck, SizeIs(1));
  EXPECT_EQ(struck[0].config_json, "{\"A\":2}");
  EXPECT_EQ(struck[0].kernel, "gemm_shared");
  EXPECT_EQ(struck[0].architecture, "sm_90");
  EXPECT_EQ(struck[0].strikes, 1);
  EXPECT_THAT(struck[0].reason, HasSubstr(kSize));
  EXPECT_EQ(store.run("1")->state, RunState::interrupted);
  EXPECT_THAT(store.trials(1), SizeIs(1));
  EXPECT_THAT(store.strikes(example_subject()), ElementsAre(Pair("{\"A\":2}", 1)));
  EXPECT_THAT(store.collect_dead_attempts(), IsEmpty());  // once
}

TEST_F(JournalTest, HoldsNothingAgainstAProcessThatDiedBetweenTwoAttempts) {
  die_during([](Store& store, std::int64_t run) {
    store.begin_attempt(run, attempt("{}"));
    store.record_trial(run, example_trial("{}"), 0);
  });
  Store store(path, kReadWrite);
  EXPECT_THAT(store.collect_dead_attempts(), IsEmpty());
  EXPECT_EQ(store.run("1")->state, RunState::interrupted);
}

TEST_F(JournalTest, DoesNotTouchTheRunOfALiveProcess) {
  Store store(path, kReadWrite);
  const std::int64_t run = store.begin_run(example_subject(), example_run());
  store.begin_attempt(run, attempt("{}"));
  store.begin_attempt(run, attempt("{}"));  // begun already
  EXPECT_THAT(store.collect_dead_attempts(), IsEmpty());
  EXPECT_EQ(store.run("1")->state, RunState::running);
  RunRecord ended = ended_as(RunState::interrupted);
  ended.respawns = 3;
  ended.shared = true;
  store.end_run(run, ended);
  EXPECT_THAT(store.collect_dead_attempts(), IsEmpty());
  EXPECT_EQ(store.run("1")->respawns, 3);
  EXPECT_TRUE(store.run("1")->shared);
}

TEST_F(JournalTest, CountsStrikesByKernelHashAndArchitecture) {
  Store store = Store::in_memory();
  const std::int64_t run = store.begin_run(example_subject(), example_run("a"));
  store.add_strike(run, "{}", "hung");
  store.add_strike(run, "{}", "crashed");
  EXPECT_THAT(store.strikes(example_subject()), ElementsAre(Pair("{}", kStrikesToQuarantine)));
  ASSERT_THAT(store.strikes(), SizeIs(1));
  EXPECT_EQ(store.strikes()[0].reason, "crashed");
  Subject other = example_subject();
  other.kernel.hash = "ffff";
  EXPECT_THAT(store.strikes(other), IsEmpty());
  other = example_subject();
  other.device.architecture = "sm_100";
  EXPECT_THAT(store.strikes(other), IsEmpty());
  other = example_subject();
  other.environment.driver = "14.0";
  EXPECT_THAT(store.strikes(other), SizeIs(1));
}

TEST_F(JournalTest, WithdrawsTheStrikesOfOneRun) {
  Store store = Store::in_memory();
  const std::int64_t before = store.begin_run(example_subject(), example_run("a"));
  store.add_strike(before, "{\"A\":1}", "crashed");
  const std::int64_t sick = store.begin_run(example_subject(), example_run("b"));
  store.add_strike(sick, "{\"A\":1}", "crashed");
  store.add_strike(sick, "{\"A\":2}", "crashed");
  store.withdraw_strikes(sick, std::vector<std::string>{"{\"A\":1}", "{\"A\":2}"});
  EXPECT_THAT(store.strikes(example_subject()), ElementsAre(Pair("{\"A\":1}", 1)));
}

TEST_F(JournalTest, ClearsTheStrikesThatMatch) {
  Store store = Store::in_memory();
  const std::int64_t run = store.begin_run(example_subject(), example_run());
  store.add_strike(run, "{\"A\":1}", "crashed");
  store.add_strike(run, "{\"A\":1}", "crashed");
  store.add_strike(run, "{\"A\":2}", "crashed");
  EXPECT_EQ(store.clear_strikes({.kernel = "another"}), 0U);
  EXPECT_EQ(store.clear_strikes({.device = "another"}), 0U);
  EXPECT_EQ(store.clear_strikes({.kernel = "gemm_shared"}), 2U);
  EXPECT_THAT(store.strikes(), IsEmpty());
}

TEST_F(JournalTest, DoesNotKnowATrialThatIsWorthAnotherTry) {
  Store store = Store::in_memory();
  const std::int64_t run = store.begin_run(example_subject(), example_run());
  for (const Outcome outcome : kOutcomes) {
    const std::string config = "{\"O\":\"" + std::string(name(outcome)) + "\"}";
    store.record_trial(
        run, outcome == Outcome::ok ? example_trial(config) : failed_trial(outcome, config), 0);
  }
  const auto known = store.known_trials(example_subject(), kSize);
  EXPECT_THAT(known, SizeIs(kOutcomes.size() - 2));
  EXPECT_FALSE(known.contains(R"({"O":"unstable"})"));
  EXPECT_FALSE(known.contains(R"({"O":"quarantined"})"));
}

TEST_F(JournalTest, KeepsCanariesInOrder) {
  Store store = Store::in_memory();
  const std::int64_t run = store.begin_run(example_subject(), example_run());
  store.record_drift(
      run, {.elapsed_s = 30.5, .problem = kSize, .median_ns = 1500.25, .clock_mhz = 1980.5});
  store.record_drift(run, {.elapsed_s = 60, .problem = kSize, .median_ns = 1501, .clock_mhz = {}});
  const std::vector<DriftRecord> drift_records = store.drift_records(run);
  ASSERT_THAT(drift_records, SizeIs(2));
  EXPECT_EQ(drift_records[0].elapsed_s, 30.5);
  EXPECT_EQ(drift_records[0].problem, kSize);
  EXPECT_EQ(drift_records[0].median_ns, 1500.25);
  EXPECT_EQ(drift_records[0].clock_mhz, 1980.5);
  EXPECT_EQ(drift_records[1].clock_mhz, std::nullopt);
  EXPECT_THAT(store.drift_records(run + 1), IsEmpty());
}

TEST_F(JournalTest, RefusesARunThatIsNot) {
  Store store = Store::in_memory();
  EXPECT_THROW(store.begin_attempt(7, attempt("{}")), Error);
  EXPECT_THROW(store.add_strike(7, "{}", "hung"), Error);
  EXPECT_THROW(store.record_drift(7, {}), Error);
}

}  // namespace
}  // namespace tuner::store
