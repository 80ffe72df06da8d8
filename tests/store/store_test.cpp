// SPDX-License-Identifier: Apache-2.0
#include "tuner/store/store.hpp"

#include "example_records.hpp"
#include "tests/support/lone_final.hpp"
#include "tuner/core/error.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>

namespace tuner::store {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::MatchesRegex;
using testing::SizeIs;
using testing::ThrowsMessage;

constexpr const char* kUtc = "[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z";

void expect_same(const TimeSummary& a, const TimeSummary& b) {
  EXPECT_EQ(a.median_ns, b.median_ns);
  EXPECT_EQ(a.q1_ns, b.q1_ns);
  EXPECT_EQ(a.q3_ns, b.q3_ns);
  EXPECT_EQ(a.min_ns, b.min_ns);
  EXPECT_EQ(a.samples, b.samples);
}

void expect_same(const TrialRecord& a, const TrialRecord& b) {
  EXPECT_EQ(a.problem, b.problem);
  EXPECT_EQ(a.config_json, b.config_json);
  EXPECT_EQ(a.outcome, b.outcome);
  EXPECT_EQ(a.message, b.message);
  ASSERT_EQ(a.time.has_value(), b.time.has_value());
  if (a.time) expect_same(*a.time, *b.time);
  EXPECT_EQ(a.worst_error, b.worst_error);
  EXPECT_EQ(a.check_seed, b.check_seed);
  EXPECT_EQ(a.registers, b.registers);
  EXPECT_EQ(a.shared_bytes, b.shared_bytes);
  EXPECT_EQ(a.local_bytes, b.local_bytes);
  EXPECT_EQ(a.compile_ms, b.compile_ms);
  EXPECT_EQ(a.verify_ms, b.verify_ms);
  EXPECT_EQ(a.measure_ms, b.measure_ms);
}

void expect_same(const Subject& a, const Subject& b) {
  EXPECT_EQ(a.device.backend, b.device.backend);
  EXPECT_EQ(a.device.name, b.device.name);
  EXPECT_EQ(a.device.uuid, b.device.uuid);
  EXPECT_EQ(a.device.architecture, b.device.architecture);
  EXPECT_EQ(a.device.attributes, b.device.attributes);
  EXPECT_EQ(a.environment, b.environment);
  EXPECT_EQ(a.kernel.family, b.kernel.family);
  EXPECT_EQ(a.kernel.kernel, b.kernel.kernel);
  EXPECT_EQ(a.kernel.hash, b.kernel.hash);
  EXPECT_EQ(a.kernel.space_text, b.kernel.space_text);
  EXPECT_EQ(a.kernel.source_name, b.kernel.source_name);
  EXPECT_EQ(a.kernel.source_text, b.kernel.source_text);
  EXPECT_EQ(a.kernel.headers_json, b.kernel.headers_json);
}

class StoreTest : public testing::Test {
 protected:
  std::int64_t begin(const Subject& subject, const std::string& uuid = "0f5b9c1e-0000") {
    return store.begin_run(subject, example_run(uuid));
  }

  Store store = Store::in_memory();
};

TEST_F(StoreTest, KeepsEveryFieldOfARun) {
  const std::int64_t id = begin(example_subject());
  const RunRecord running = store.run("0f5b9c1e-0000").value();
  EXPECT_EQ(running.state, RunState::running);
  EXPECT_EQ(running.ended_at, "");

  store.end_run(id, ended_as(RunState::budget_spent));
  const RunRecord ended = store.run(std::to_string(id)).value();
  EXPECT_EQ(ended.id, id);
  EXPECT_EQ(ended.uuid, "0f5b9c1e-0000");
  EXPECT_EQ(ended.device, "NVIDIA H200");
  EXPECT_EQ(ended.backend, "cuda");
  EXPECT_EQ(ended.family, "gemm");
  EXPECT_EQ(ended.kernel, "gemm_shared");
  EXPECT_EQ(ended.kernel_hash, "0123456789abcdef");
  EXPECT_THAT(ended.problems, ElementsAre("4096,4096,4096", "512,512,512"));
  EXPECT_EQ(ended.strategy, "random");
  EXPECT_EQ(ended.seed, std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(ended.command, "tune --kernel gemm_shared --space 'spaces/gemm.json'");
  EXPECT_THAT(ended.started_at, MatchesRegex(kUtc));
  EXPECT_THAT(ended.ended_at, MatchesRegex(kUtc));
  EXPECT_EQ(ended.state, RunState::budget_spent);
  EXPECT_EQ(ended.valid, 7600U);
  EXPECT_EQ(ended.cartesian, 28800U);
  EXPECT_EQ(ended.wall_s, 60.5);
  EXPECT_EQ(ended.environment, example_subject().environment);
  EXPECT_EQ(ended.compile_s, 20.25);
  EXPECT_EQ(ended.verify_s, 10);
  EXPECT_EQ(ended.measure_s, 1.0 / 3);
}

TEST_F(StoreTest, FindsARunByIdOrByTheBeginningOfItsUuid) {
  const std::int64_t first = begin(example_subject(), "aa10");
  const std::int64_t second = begin(example_subject(), "aa2%");
  EXPECT_EQ(store.run("aa1")->id, first);
  EXPECT_EQ(store.run("aa2%")->id, second);
  EXPECT_EQ(store.run(std::to_string(second))->id, second);
  EXPECT_FALSE(store.run("%"));
  EXPECT_FALSE(store.run(""));
  EXPECT_FALSE(store.run("99"));
  EXPECT_THAT([&] { static_cast<void>(store.run("aa")); },
              ThrowsMessage<Error>(AllOf(HasSubstr("'aa'"), HasSubstr("aa10"), HasSubstr("aa2%"))));
  EXPECT_THAT(store.runs(), SizeIs(2));
  EXPECT_EQ(store.runs().front().id, second);
}

TEST_F(StoreTest, KeepsEveryFieldOfATrialAndNumbersThemByProblem) {
  const std::int64_t id = begin(example_subject());
  TrialRecord elsewhere = example_trial();
  elsewhere.problem = "512,512,512";
  store.record_trial(id, example_trial(), 1.5);
  store.record_trial(id, failed_trial(Outcome::compile_error, R"({"TILE_M":128})"), 2.25);
  store.record_trial(id, elsewhere, 3);

  const std::vector<StoredTrial> trials = store.trials(id);
  ASSERT_THAT(trials, SizeIs(3));
  expect_same(trials[0].trial, example_trial());
  expect_same(trials[1].trial, failed_trial(Outcome::compile_error, R"({"TILE_M":128})"));
  expect_same(trials[2].trial, elsewhere);
  EXPECT_EQ(trials[0].sequence, 1);
  EXPECT_EQ(trials[1].sequence, 2);
  EXPECT_EQ(trials[2].sequence, 1);
  EXPECT_EQ(trials[0].run, id);
  EXPECT_EQ(trials[1].elapsed_s, 2.25);
  EXPECT_LT(trials[0].id, trials[1].id);
}

TEST_F(StoreTest, VisitsTheTrialsOfARunSizeBySizeWithEachConfigurationsTextOnce) {
  const std::int64_t id = begin(example_subject());
  TrialRecord elsewhere = example_trial();
  elsewhere.problem = "512,512,512";
  store.record_trial(id, example_trial(), 1);
  store.record_trial(id, elsewhere, 2);
  store.record_trial(id, example_trial(R"({"TILE_M":128})"), 3);

  std::vector<StoredTrial> visited;
  store.each_trial(id, [&](const StoredTrial& trial) { visited.push_back(trial); });
  ASSERT_THAT(visited, SizeIs(3));
  expect_same(visited[0].trial, example_trial());
  expect_same(visited[1].trial, example_trial(R"({"TILE_M":128})"));
  elsewhere.config_json = "";
  expect_same(visited[2].trial, elsewhere);
  EXPECT_EQ(visited[2].config, visited[0].config);
}

TEST_F(StoreTest, KeepsEveryOutcome) {
  const std::int64_t id = begin(example_subject());
  for (const Outcome outcome : kOutcomes) {
    if (outcome == Outcome::ok) continue;
    store.record_trial(id, failed_trial(outcome, "{}"), 0);
    EXPECT_EQ(store.trials(id).back().trial.outcome, outcome);
  }
}

TEST_F(StoreTest, KeepsAnInfiniteErrorAndTakesNanForAbsent) {
  const std::int64_t id = begin(example_subject());
  TrialRecord wrong = failed_trial(Outcome::wrong_result, "{}");
  wrong.worst_error = std::numeric_limits<double>::infinity();
  store.record_trial(id, wrong, 0);
  wrong.worst_error = std::nan("");
  store.record_trial(id, wrong, 0);
  EXPECT_EQ(store.trials(id)[0].trial.worst_error, std::numeric_limits<double>::infinity());
  EXPECT_EQ(store.trials(id)[1].trial.worst_error, std::nullopt);
}

TEST_F(StoreTest, RefusesTimesThatCannotBe) {
  const std::int64_t id = begin(example_subject());
  const double infinity = std::numeric_limits<double>::infinity();
  const std::vector<TimeSummary> impossible = {
      {.median_ns = std::nan(""), .q1_ns = 1, .q3_ns = 1, .min_ns = 1, .samples = 1},
      {.median_ns = 1, .q1_ns = std::nan(""), .q3_ns = 1, .min_ns = 1, .samples = 1},
      {.median_ns = 1, .q1_ns = 1, .q3_ns = infinity, .min_ns = 1, .samples = 1},
      {.median_ns = infinity, .q1_ns = 1, .q3_ns = infinity, .min_ns = 1, .samples = 1},
      {.median_ns = 1, .q1_ns = 1, .q3_ns = 1, .min_ns = 0, .samples = 1},
      {.median_ns = -1, .q1_ns = -1, .q3_ns = -1, .min_ns = -1, .samples = 1},
      {.median_ns = 2, .q1_ns = 3, .q3_ns = 4, .min_ns = 1, .samples = 1},
      {.median_ns = 1, .q1_ns = 1, .q3_ns = 1, .min_ns = 1, .samples = 0}};
  for (const TimeSummary& time : impossible) {
    TrialRecord trial = example_trial();
    trial.time = time;
    EXPECT_THROW(store.record_trial(id, trial, 0), Error) << time.median_ns;
    BestRecord best = example_best();
    best.time = time;
    EXPECT_THROW(record_lone_final(store, id, best), Error) << time.median_ns;
  }
  EXPECT_THAT(store.trials(id), IsEmpty());
  EXPECT_THAT(store.bests({}), IsEmpty());
}

TEST_F(StoreTest, RefusesATimeOfAFailureAndASuccessWithoutATime) {
  const std::int64_t id = begin(example_subject());
  TrialRecord failed = failed_trial(Outcome::timeout, "{}");
  failed.time = example_time();
  EXPECT_THAT([&] { store.record_trial(id, failed, 0); },
              ThrowsMessage<Error>(HasSubstr("a_time_exactly_when_ok")));
  TrialRecord timeless = example_trial();
  timeless.time.reset();
  EXPECT_THROW(store.record_trial(id, timeless, 0), Error);
}

TEST_F(StoreTest, RefusesToRecordIntoARunThatIsNot) {
  EXPECT_THAT([&] { store.record_trial(7, example_trial(), 0); },
              ThrowsMessage<Error>(HasSubstr("no run 7")));
  EXPECT_THROW(store.end_run(7, ended_as(RunState::complete)), Error);
  EXPECT_THROW(record_lone_final(store, 7, example_best()), Error);
}

TEST_F(StoreTest, KeepsEveryFieldOfABest) {
  const std::int64_t id = begin(example_subject());
  record_lone_final(store, id, example_best());
  const std::vector<StoredBest> bests = store.bests({});
  ASSERT_THAT(bests, SizeIs(1));
  expect_same(*bests[0].subject, example_subject());
  const BestRecord& best = bests[0].best;
  const BestRecord expected = example_best();
  EXPECT_EQ(best.problem, expected.problem);
  EXPECT_EQ(best.config_json, expected.config_json);
  expect_same(best.time, expected.time);
  EXPECT_EQ(best.library_ns, expected.library_ns);
  EXPECT_EQ(best.default_ns, expected.default_ns);
  EXPECT_EQ(best.ratio_to_library, expected.ratio_to_library);
  EXPECT_EQ(best.ratio_to_default, expected.ratio_to_default);
  EXPECT_EQ(best.ratio_to_library_low, expected.ratio_to_library_low);
  EXPECT_EQ(best.ratio_to_library_high, expected.ratio_to_library_high);
  EXPECT_EQ(best.library_name, expected.library_name);
  EXPECT_EQ(best.ties, expected.ties);
  EXPECT_EQ(best.flops, expected.flops);
  EXPECT_EQ(best.bytes, expected.bytes);
  EXPECT_EQ(best.run_uuid, "0f5b9c1e-0000");
  EXPECT_EQ(best.recorded_at, expected.recorded_at);
}

TEST_F(StoreTest, KeepsAbsentComparisonsAbsentAndDatesWhatHasNoDate) {
  BestRecord bare;
  bare.problem = "1,1,1";
  bare.config_json = "{}";
  bare.time = example_time();
  record_lone_final(store, begin(example_subject()), bare);
  const BestRecord best = store.bests({}).at(0).best;
  EXPECT_EQ(best.library_ns, std::nullopt);
  EXPECT_EQ(best.default_ns, std::nullopt);
  EXPECT_EQ(best.ratio_to_library, std::nullopt);
  EXPECT_EQ(best.ratio_to_default, std::nullopt);
  EXPECT_EQ(best.ratio_to_library_low, std::nullopt);
  EXPECT_EQ(best.ratio_to_library_high, std::nullopt);
  EXPECT_THAT(best.recorded_at, MatchesRegex(kUtc));
}

TEST_F(StoreTest, ReplacesABestOfTheSameKeyOnly) {
  const Subject subject = example_subject();
  Subject other_driver = subject;
  other_driver.environment.driver = "12.8";
  Subject other_source = subject;
  other_source.kernel.hash = "ffff";
  Subject other_device = subject;
  other_device.device = space::device_profile("a100").value();
  record_lone_final(store, begin(subject, "a"), example_best("{}", 100));
  record_lone_final(store, begin(other_driver, "b"), example_best("{}", 200));
  record_lone_final(store, begin(other_source, "c"), example_best("{}", 300));
  record_lone_final(store, begin(other_device, "d"), example_best("{}", 400));
  record_lone_final(store, begin(subject, "e"), example_best(R"({"TILE_M":32})", 500));

  std::vector<double> medians;
  for (const StoredBest& stored : store.bests({})) medians.push_back(stored.best.time.median_ns);
  EXPECT_THAT(medians, ElementsAre(500, 400, 300, 200));  // newest first
}

TEST_F(StoreTest, FiltersBestsByEachField) {
  record_lone_final(store, begin(example_subject(), "a"), example_best());
  const auto found = [&](const ResultFilter& filter) { return store.bests(filter).size(); };
  EXPECT_EQ(found({.device = "NVIDIA H200",
                   .family = "gemm",
                   .kernel = "gemm_shared",
                   .problem = "4096,4096,4096"}),
            1U);
  EXPECT_EQ(found({.device = "NVIDIA H20"}), 0U);
  EXPECT_EQ(found({.family = "transpose"}), 0U);
  EXPECT_EQ(found({.kernel = "gemm_naive"}), 0U);
  EXPECT_EQ(found({.problem = "512,512,512"}), 0U);
  EXPECT_EQ(found({.kernel = "' OR 1=1 --"}), 0U);
}

TEST_F(StoreTest, GivesTheContendersOfTheLatestFinalBestFirst) {
  const std::int64_t id = begin(example_subject());
  const FinalistRecord winner{.role = "candidate",
                              .config_json = R"({"TILE_M":64})",
                              .time = example_time(1500),
                              .samples_ns = {1500, 1499.5, 1.0 / 3}};
  const FinalistRecord library{.role = "library",
                               .config_json = "",
                               .time = example_time(1650),
                               .ratio_to_best = 1.1,
                               .ratio_low = 1.08,
                               .ratio_high = 1.12,
                               .samples_ns = {1650}};
  store.record_final(id, example_best(), {winner});
  store.record_final(id, example_best(), {library, winner});

  const std::vector<FinalistRecord> finalists = store.finalists(id, "4096,4096,4096");
  ASSERT_THAT(finalists, SizeIs(2));
  EXPECT_EQ(finalists[0].role, "candidate");
  EXPECT_EQ(finalists[0].config_json, R"({"TILE_M":64})");
  expect_same(finalists[0].time, winner.time);
  EXPECT_EQ(finalists[0].samples_ns, winner.samples_ns);
  EXPECT_EQ(finalists[1].role, "library");
  EXPECT_EQ(finalists[1].config_json, "");
  EXPECT_EQ(finalists[1].ratio_to_best, 1.1);
  EXPECT_EQ(finalists[1].ratio_low, 1.08);
  EXPECT_EQ(finalists[1].ratio_high, 1.12);
  EXPECT_THAT(store.finalists(id, "512,512,512"), IsEmpty());
}

TEST_F(StoreTest, UndoesAFinalOfWhichOnePartIsRefused) {
  const std::int64_t id = begin(example_subject());
  const FinalistRecord nameless{
      .role = "champion", .config_json = "{}", .time = example_time(), .samples_ns = {}};
  EXPECT_THROW(store.record_final(id, example_best(), {nameless}), Error);
  EXPECT_THAT(store.bests({}), IsEmpty());
  EXPECT_THAT(store.finalists(id, "4096,4096,4096"), IsEmpty());
}

TEST_F(StoreTest, TakesBackABestThatIsRefuted) {
  const std::int64_t id = begin(example_subject(), "a");
  record_lone_final(store, id, example_best("{}"));
  store.record_trial(id, failed_trial(Outcome::wrong_result, R"({"TILE_M":8})"), 0);
  store.record_trial(id, failed_trial(Outcome::unstable, "{}"), 0);
  EXPECT_THAT(store.bests({}), SizeIs(1)) << "another configuration, and no verdict";
  Subject elsewhere = example_subject();
  elsewhere.environment.driver = "another";
  store.record_trial(begin(elsewhere, "b"), failed_trial(Outcome::wrong_result, "{}"), 0);
  EXPECT_THAT(store.bests({}), SizeIs(1)) << "another driver";
  store.record_trial(id, failed_trial(Outcome::wrong_result, "{}"), 0);
  EXPECT_THAT(store.bests({}), IsEmpty());
}

TEST_F(StoreTest, KnowsTheLatestTrialOfEachConfiguration) {
  store.record_trial(begin(example_subject(), "a"), example_trial("{}", 100), 0);
  const std::int64_t later = begin(example_subject(), "b");
  store.record_trial(later, example_trial("{}", 90), 0);
  store.record_trial(later, failed_trial(Outcome::crashed, R"({"TILE_M":8})"), 0);

  const auto known = store.known_trials(example_subject(), "4096,4096,4096");
  ASSERT_THAT(known, SizeIs(2));
  EXPECT_EQ(known.at("{}").time->median_ns, 90);
  EXPECT_EQ(known.at(R"({"TILE_M":8})").outcome, Outcome::crashed);
  EXPECT_THAT(store.known_trials(example_subject(), "512,512,512"), IsEmpty());
}

TEST_F(StoreTest, KnowsNoTrialOfAnotherSubject) {
  store.record_trial(begin(example_subject()), example_trial(), 0);
  const auto known = [&](auto change) {
    Subject subject = example_subject();
    change(subject);
    return store.known_trials(subject, "4096,4096,4096").size();
  };
  EXPECT_EQ(known([](Subject&) {}), 1U);
  EXPECT_EQ(known([](Subject& it) { it.device.uuid = "another card of this model"; }), 1U);
  EXPECT_EQ(known([](Subject& it) { it.device.backend = "cpu"; }), 0U);
  EXPECT_EQ(known([](Subject& it) { it.device.name = "NVIDIA H100"; }), 0U);
  EXPECT_EQ(known([](Subject& it) { it.device.architecture = "sm_100"; }), 0U);
  EXPECT_EQ(known([](Subject& it) { it.device.attributes.sm_count = 16; }), 0U);
  EXPECT_EQ(known([](Subject& it) { it.environment.driver = "12.8"; }), 0U);
  EXPECT_EQ(known([](Subject& it) { it.environment.compiler = "NVRTC 12.8"; }), 0U);
  EXPECT_EQ(known([](Subject& it) { it.environment.library = "cuBLAS 12"; }), 0U);
  EXPECT_EQ(known([](Subject& it) { it.environment.tool = "0.2.0"; }), 0U);
  EXPECT_EQ(known([](Subject& it) { it.kernel.hash = "f"; }), 0U);
  EXPECT_EQ(known([](Subject& it) { it.check_hash = "f"; }), 0U);
  EXPECT_EQ(known([](Subject& it) { it.kernel.kernel = "gemm_naive"; }), 0U);
  EXPECT_EQ(known([](Subject& it) { it.kernel.family = "other"; }), 0U);
}

TEST_F(StoreTest, GivesTheLatestTrialOfEachConfigurationOverAllRuns) {
  const std::int64_t first = begin(example_subject(), "a");
  store.record_trial(first, example_trial(R"({"TILE_M":1})", 100), 0);
  store.record_trial(first, example_trial(R"({"TILE_M":2})", 200), 0);
  store.record_trial(begin(example_subject(), "b"), example_trial(R"({"TILE_M":1})", 110), 0);
  Subject elsewhere = example_subject();
  elsewhere.device = space::device_profile("a100").value();
  store.record_trial(begin(elsewhere, "c"), example_trial(R"({"TILE_M":1})", 300), 0);

  std::vector<double> medians;
  for (const StoredTrial& stored : store.trials(ResultFilter{.device = "NVIDIA H200"})) {
    medians.push_back(stored.trial.time->median_ns);
  }
  EXPECT_THAT(medians, ElementsAre(200, 110));
  EXPECT_THAT(store.trials(ResultFilter{}), SizeIs(3));
  EXPECT_THAT(store.trials(ResultFilter{.problem = "512,512,512"}), IsEmpty());
}

TEST_F(StoreTest, ListsDevicesAndKernelsTheOneUsedLastFirst) {
  EXPECT_THAT(store.devices(), IsEmpty());
  EXPECT_THAT(store.kernels({}), IsEmpty());
  const Subject h200 = example_subject();
  Subject a100 = h200;
  a100.device = space::device_profile("a100").value();
  a100.kernel.hash = "ffff";
  static_cast<void>(begin(h200, "a"));
  static_cast<void>(begin(a100, "b"));
  static_cast<void>(begin(h200, "c"));

  const std::vector<space::DeviceInfo> devices = store.devices();
  ASSERT_THAT(devices, SizeIs(2));
  EXPECT_EQ(devices[0].name, "NVIDIA H200");
  EXPECT_EQ(devices[0].uuid, "GPU-5a1c");
  EXPECT_EQ(devices[0].attributes, h200.device.attributes);
  EXPECT_EQ(devices[1].name, a100.device.name);
  const std::vector<KernelRecord> kernels = store.kernels({});
  ASSERT_THAT(kernels, SizeIs(2));
  EXPECT_EQ(kernels[0].hash, h200.kernel.hash);
  EXPECT_EQ(kernels[0].source_text, h200.kernel.source_text);
  EXPECT_THAT(store.kernels({.device = a100.device.name}), SizeIs(1));
  EXPECT_THAT(store.kernels({.problem = "1,1,1"}), IsEmpty());
}

TEST_F(StoreTest, TakesWhatIsNewOfADeviceAndOfASpaceFile) {
  Subject subject = example_subject();
  static_cast<void>(begin(subject, "a"));
  subject.device.attributes.memory_bytes = 1;
  subject.kernel.space_text = "{\"format\": \"space/1\", \"family\": \"gemm\"}";
  static_cast<void>(begin(subject, "b"));
  ASSERT_THAT(store.devices(), SizeIs(1));
  EXPECT_EQ(store.devices()[0].attributes.memory_bytes, 1);
  ASSERT_THAT(store.kernels({}), SizeIs(1));
  EXPECT_EQ(store.kernels({})[0].space_text, subject.kernel.space_text);
}

TEST_F(StoreTest, ABestWithoutAContenderIsNoneUntilAFinalRoundConfirmsIt) {
  const std::int64_t id = begin(example_subject());
  store.record_final(id, example_best(), {});  // as versions before 0.2.0 did after an interruption
  EXPECT_THAT(store.bests({}), IsEmpty());
  record_lone_final(store, id, example_best());
  EXPECT_THAT(store.bests({}), SizeIs(1));
}

TEST_F(StoreTest, AnUnconfirmedBestDoesNotKeepAnImportedOneOut) {
  const std::int64_t id = begin(example_subject());
  store.record_final(id, example_best(R"({"TILE_M":8})", 10), {});
  StoredBest other{.subject = std::make_shared<const Subject>(example_subject()),
                   .best = example_best(R"({"TILE_M":16})", 20)};
  other.best.run_uuid = "elsewhere";
  EXPECT_EQ(store.import_bests(std::span(&other, 1), "a file").added, 1U);
  ASSERT_THAT(store.bests({}), SizeIs(1));
  EXPECT_EQ(store.bests({}).front().best.origin, "a file");
}

}  // namespace
}  // namespace tuner::store
