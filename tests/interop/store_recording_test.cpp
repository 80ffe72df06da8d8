// SPDX-License-Identifier: Apache-2.0
#include "tuner/interop/store_recording.hpp"

#include "tuner/interop/recording_file.hpp"

#include <gmock/gmock.h>

#include <string>

namespace tuner::interop {
namespace {

using ::testing::ElementsAre;

store::Subject subject(const std::string& hash, const std::string& values) {
  store::Subject subject;
  subject.device = space::device_profile("h200").value();
  subject.environment = {.driver = "d", .compiler = "c", .library = "l", .tool = "t"};
  subject.kernel = {.family = "f",
                    .kernel = "k",
                    .hash = hash,
                    .space_text = R"({"format": "space/1", "family": "f",
                                  "problem": {"dims": ["N"], "flops": "N", "bytes": "N"},
                                  "kernels": {"k": {"parameters":
                                  {"A": {"values": )" +
                                  values + R"(, "default": 1}}}}})",
                    .source_name = "k.cu",
                    .source_text = "",
                    .headers_json = "[]"};
  return subject;
}

store::TrialRecord trial(const std::string& problem, int value, double ns) {
  store::TrialRecord trial;
  trial.problem = problem;
  trial.config_json = "{\"A\":" + std::to_string(value) + "}";
  trial.time = TimeSummary{.median_ns = ns, .q1_ns = ns, .q3_ns = ns, .min_ns = ns, .samples = 5};
  trial.compile_ms = 200;
  trial.verify_ms = 30;
  trial.measure_ms = 20;
  return trial;
}

void run(store::Store& store, const store::Subject& subject,
         const std::vector<store::TrialRecord>& trials) {
  store::RunRecord run;
  run.uuid = "session-" + std::to_string(store.runs().size());
  run.strategy = "random";
  run.problems = {"64", "128"};
  const std::int64_t id = store.begin_run(subject, run);
  for (const store::TrialRecord& trial : trials) store.record_trial(id, trial, 1);
  run.state = store::RunState::complete;
  store.end_run(id, run);
}

std::vector<std::string> keys_from(const Recording& recording) {
  std::vector<std::string> keys;
  for (const RecordedTrial& trial : recording.trials) {
    keys.push_back(cache_key(*recording.definition, trial.config));
  }
  return keys;
}

TEST(Store_recording, Every_size_is_one_with_its_times_and_costs) {
  store::Store store = store::Store::in_memory();
  store::TrialRecord failed = trial("64", 2, 1);
  failed.outcome = Outcome::crashed;
  failed.time.reset();
  run(store, subject("h", "[1, 2]"), {trial("64", 1, 5e6), failed, trial("128", 1, 9e6)});
  const std::vector<Recording> recordings = read_recordings(store, {});
  ASSERT_EQ(recordings.size(), 2U);
  EXPECT_EQ(recordings[0].problem, "64");
  EXPECT_EQ(recordings[0].kernel, "k");
  EXPECT_EQ(recordings[0].device, "NVIDIA H200");
  EXPECT_THAT(keys_from(recordings[0]), ElementsAre("1", "2"));
  EXPECT_EQ(recordings[0].trials[0].time_ms, 5);
  EXPECT_EQ(recordings[0].trials[0].cost_s, 0.25);
  EXPECT_EQ(recordings[0].trials[1].outcome, Outcome::crashed);
  EXPECT_EQ(recordings[0].trials[1].time_ms, std::nullopt);
  EXPECT_EQ(read_recordings(store, {.problem = "128"}).size(), 1U);
  EXPECT_EQ(read_recordings(store, {.kernel = "other"}).size(), 0U);
}

TEST(Store_recording, The_latest_trial_of_a_configuration_counts) {
  store::Store store = store::Store::in_memory();
  run(store, subject("h", "[1, 2]"), {trial("64", 1, 5e6), trial("64", 2, 6e6)});
  run(store, subject("h", "[1, 2]"), {trial("64", 1, 7e6), trial("64", 1, 8e6)});
  const std::vector<Recording> recordings = read_recordings(store, {});
  ASSERT_EQ(recordings.size(), 1U);
  EXPECT_THAT(keys_from(recordings[0]), ElementsAre("1", "2"));
  EXPECT_EQ(recordings[0].trials[0].time_ms, 8);
}

TEST(Store_recording, Another_version_of_the_kernel_does_not_mix_in) {
  store::Store store = store::Store::in_memory();
  run(store, subject("old", "[1, 2]"), {trial("64", 1, 5e6), trial("128", 2, 6e6)});
  run(store, subject("new", "[1, 2]"), {trial("64", 2, 7e6)});
  const std::vector<Recording> recordings = read_recordings(store, {});
  ASSERT_EQ(recordings.size(), 1U);
  EXPECT_THAT(keys_from(recordings[0]), ElementsAre("2"));
}

TEST(Store_recording, A_value_that_the_space_has_lost_is_left_out) {
  store::Store store = store::Store::in_memory();
  run(store, subject("h", "[1, 2]"), {trial("64", 1, 5e6), trial("64", 3, 6e6)});
  EXPECT_THAT(keys_from(read_recordings(store, {}).at(0)), ElementsAre("1"));
}

}  // namespace
}  // namespace tuner::interop
