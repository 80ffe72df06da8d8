// SPDX-License-Identifier: Apache-2.0
#include "tuner/worker/device_process.hpp"

#include "tests/session/toy.hpp"
#include "tuner/core/error.hpp"

#include <gmock/gmock.h>

#include <csignal>
#include <utility>

namespace tuner::worker {
namespace {

using testing::HasSubstr;
using testing::StartsWith;
using namespace std::chrono_literals;

constexpr const char* kBad = R"({"DEPTH":1,"TILE":1})";

/// A device process whose worker misbehaves on TILE=1 and serves every other configuration.
class DeviceProcessTest : public testing::Test {
 protected:
  explicit DeviceProcessTest(family::Family family = session::toy::family())
      : family_(std::move(family)) {}

  void start(const std::string& behaviour, DeviceDeadlines deadlines = {}) {
    device_.emplace(WorkerCommand{TUNER_FAKE_WORKER, std::string(kBad) + "=" + behaviour}, family_,
                    0, deadlines);
    space_.emplace(kernel_.space, device_->device().attributes, space::Size{10});
  }
  EvaluatedCandidate evaluate(std::string_view config) {
    return device_->evaluate({.kernel = kernel_,
                              .space = *space_,
                              .config = session::toy::config(family_, config),
                              .binary = {.image = {}, .symbols = {""}}},
                             space::Size{10}, std::nullopt);
  }
  EvaluatedCandidate evaluate_bad() { return evaluate("TILE=1"); }
  /// What ends the run instead of a result.
  Error error_of_bad() {
    try {
      static_cast<void>(evaluate_bad());
    } catch (const Error& error) {
      return error;
    }
    ADD_FAILURE() << "no error";
    return {ErrorCode::usage, ""};
  }
  /// That what went wrong cost one candidate and one process, and nothing else.
  void expect_to_serve_again(int respawns = 1) {
    EXPECT_EQ(evaluate("TILE=3").outcome, Outcome::ok);
    EXPECT_EQ(device_->respawns(), respawns);
  }

  static constexpr DeviceDeadlines kShort{
      .longest = 300ms, .start = 20s, .own_work = 300ms, .launch = 300ms, .first_launch = 300ms};

  const family::Family family_;
  const family::Kernel& kernel_ = family_.kernels.front();
  std::optional<DeviceProcess> device_;
  std::optional<space::Space> space_;
};

TEST(DeviceDeadlinesTest, AFirstLaunchMayTakeTwelveTimesAsLong) {
  EXPECT_EQ(DeviceDeadlines{.launch = 2s}.first_launch, 24s);
}

TEST_F(DeviceProcessTest, PassesOnWhatTheWorkerSays) {
  start("fine");
  EXPECT_EQ(device_->device().name, "Fake device");
  const EvaluatedCandidate evaluation = evaluate("");
  EXPECT_EQ(evaluation.outcome, Outcome::ok);
  ASSERT_TRUE(evaluation.time);
  EXPECT_EQ(evaluation.time->median_ns, 1000);
  EXPECT_EQ(device_->respawns(), 0);
}

TEST_F(DeviceProcessTest, AWorkerThatACandidateCrashesIsReplaced) {
  start("segfault");
  const EvaluatedCandidate evaluation = evaluate_bad();
  EXPECT_EQ(evaluation.outcome, Outcome::crashed);
  EXPECT_THAT(evaluation.message, HasSubstr("signal 11"));
  expect_to_serve_again();
}

TEST_F(DeviceProcessTest, ACandidateThatCrashesAfterAnotherIsTriedOnceMoreInANewWorker) {
  start("dies_second");
  EXPECT_EQ(evaluate_bad().outcome, Outcome::ok);
  EXPECT_EQ(evaluate_bad().outcome, Outcome::ok);
  EXPECT_EQ(device_->respawns(), 1);
  start("segfault");
  EXPECT_EQ(evaluate("").outcome, Outcome::ok);
  EXPECT_EQ(evaluate_bad().outcome, Outcome::crashed);
  expect_to_serve_again(2);
}

TEST_F(DeviceProcessTest, AProcessThatIsReplacedWasNotLost) {
  start("dies_second");
  EXPECT_EQ(evaluate_bad().outcome, Outcome::ok);
  device_->replace_process();
  EXPECT_EQ(evaluate_bad().outcome, Outcome::ok) << "the first of another process";
  EXPECT_EQ(device_->respawns(), 0);
}

TEST_F(DeviceProcessTest, TheLastWordsOfADyingWorkerAreKept) {
  start("exit");
  EXPECT_THAT(evaluate_bad().message, HasSubstr("ended with exit code 3: out of luck"));
  expect_to_serve_again();
}

TEST_F(DeviceProcessTest, AnEvaluationThatSaysCrashedEndsTheWorkerToo) {
  start("crashed");
  EXPECT_EQ(evaluate_bad().outcome, Outcome::crashed);
  expect_to_serve_again();
}

TEST_F(DeviceProcessTest, AWrongResultLeavesTheWorkerAlone) {
  start("wrong");
  EXPECT_EQ(evaluate_bad().outcome, Outcome::wrong_result);
  expect_to_serve_again(0);
}

/// What a worker may do instead of answering in time.
class HangingWorker : public DeviceProcessTest, public testing::WithParamInterface<const char*> {};

TEST_P(HangingWorker, IsKilledAtTheDeadline) {
  start(GetParam(), kShort);
  const EvaluatedCandidate evaluation = evaluate_bad();
  EXPECT_EQ(evaluation.outcome, Outcome::timeout);
  EXPECT_THAT(evaluation.message, HasSubstr("did not end within 0.3 s and was killed"));
  expect_to_serve_again();
}

INSTANTIATE_TEST_SUITE_P(Ways, HangingWorker,
                         testing::Values("hang", "patient_hang", "stop", "spin", "half_a_frame"));

/// What a worker may send instead of an answer.
class RavingWorker : public DeviceProcessTest, public testing::WithParamInterface<const char*> {};

TEST_P(RavingWorker, CountsAsCrashedAndIsReplaced) {
  start(GetParam());
  EXPECT_EQ(evaluate_bad().outcome, Outcome::crashed);
  expect_to_serve_again();
}

INSTANTIATE_TEST_SUITE_P(Ways, RavingWorker,
                         testing::Values("garbage", "no_cbor", "no_step", "no_evaluation",
                                         "too_long"));

TEST_F(DeviceProcessTest, AContenderWhoseTimeIsNonsenseHasCrashed) {
  start("fine");
  device_->begin_side_by_side({10});
  const auto sample = device_->time_contender(0);
  ASSERT_FALSE(sample);
  EXPECT_EQ(sample.error().outcome, Outcome::crashed);
  expect_to_serve_again();
}

TEST_F(DeviceProcessTest, FloodsAndDripsAreTakenAsTheyAre) {
  start("flood");
  EXPECT_EQ(evaluate_bad().outcome, Outcome::ok);
  expect_to_serve_again(0);
  start("drip");
  EXPECT_EQ(evaluate_bad().outcome, Outcome::ok);
}

TEST_F(DeviceProcessTest, NoCandidateFailsBeforeItRan) {
  start("die_before_launch");
  const Error error = error_of_bad();
  EXPECT_EQ(error.code(), ErrorCode::no_device) << "other devices go on";
  EXPECT_THAT(error.what(), HasSubstr("twice, before any candidate ran"));
  expect_to_serve_again(2);
  start("hang_before_launch", kShort);
  EXPECT_THROW(static_cast<void>(evaluate_bad()), Error);
}

/// The kernel of the family is the reference, too.
class DyingReference : public DeviceProcessTest {
 protected:
  DyingReference()
      : DeviceProcessTest(session::toy::family_with(
            R"({"op": "gemm", "m": "N", "n": "N", "k": "N", "a": "A", "b": "B", "c": "C"})",
            R"({"kernel": "toy"})")) {}
};

TEST_F(DyingReference, IsNamed) {
  start("reference_dies_first");
  const Error error = error_of_bad();
  EXPECT_EQ(error.code(), ErrorCode::failure);
  EXPECT_THAT(error.what(), StartsWith("the reference kernel toy (toy.cu) fails at size 5: "));
  expect_to_serve_again(2);
}

TEST_F(DyingReference, IsNotWaitedForTwice) {
  start("hang_in_reference", kShort);
  const Error error = error_of_bad();
  EXPECT_EQ(error.code(), ErrorCode::failure);
  EXPECT_THAT(error.what(), HasSubstr("did not end within 0.3 s and was killed. Nothing can be"));
  expect_to_serve_again(1);
}

TEST_F(DyingReference, IsNotBlamedForASignalOfOthers) {
  start("killed_in_reference");
  const Error error = error_of_bad();
  EXPECT_EQ(error.code(), ErrorCode::no_device) << "other devices go on";
  EXPECT_THAT(error.what(), HasSubstr("was ended by signal 9 (Killed) twice"));
}

TEST_F(DyingReference, IsNamedWhereACandidateRanBefore) {
  start("reference_dies_later");
  const EvaluatedCandidate evaluation = evaluate_bad();
  EXPECT_EQ(evaluation.outcome, Outcome::crashed);
  EXPECT_THAT(evaluation.message,
              StartsWith("after it had run, the reference kernel toy at size 5 was ended by"));
  expect_to_serve_again();
}

TEST_F(DeviceProcessTest, PassesOnTheErrorsOfTheWorker) {
  start("error");
  EXPECT_THROW(static_cast<void>(evaluate_bad()), Error);
  expect_to_serve_again(0);
}

TEST_F(DeviceProcessTest, AWorkerThatDoesNotStartIsAnError) {
  EXPECT_THROW(DeviceProcess({TUNER_FAKE_WORKER, "start=die"}, family_, 0, {}), Error);
  EXPECT_THROW(DeviceProcess({TUNER_FAKE_WORKER, "start=hang"}, family_, 0, {.start = 300ms}),
               Error);
  EXPECT_THROW(DeviceProcess({"/no/such/program"}, family_, 0, {}), Error);
}

}  // namespace
}  // namespace tuner::worker
