// SPDX-License-Identifier: Apache-2.0
// Candidates that crash or hang: what they cost, and what they do not.
#include "tests/session/session_fixture.hpp"
#include "tuner/core/error.hpp"
#include "tuner/session/side_by_side_timer.hpp"

namespace tuner::session {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Optional;
using testing::SizeIs;

class FaultTest : public SessionTest {
 protected:
  void fail(std::initializer_list<const char*> entries, Outcome outcome) {
    for (const char* entry : entries) device.behaviours[entry].failure = outcome;
  }
};

TEST_F(FaultTest, ACrashCostsItsCandidateAndAStrike) {
  fail({"toy<3,3>"}, Outcome::crashed);
  const RunResult result = run({.sizes = {{10}}});
  EXPECT_EQ(result.state, store::RunState::complete);
  EXPECT_EQ(result.sizes.front().outcomes.at(Outcome::crashed), 1U);
  EXPECT_EQ(result.sizes.front().outcomes.at(Outcome::ok), 11U);
  EXPECT_EQ(stored_best(), kFastest);
  const auto strikes = store.strikes();
  ASSERT_THAT(strikes, SizeIs(1));
  EXPECT_EQ(strikes.front().config_json, R"({"DEPTH":3,"TILE":3})");
  EXPECT_EQ(strikes.front().strikes, 1);
  EXPECT_THAT(strikes.front().reason, HasSubstr("toy<3,3> fails"));
}

TEST_F(FaultTest, ALibraryThatCannotBeTimedIsLeftOutOfTheFinal) {
  device.library_failure = Outcome::unstable;
  const RunResult result = run({.sizes = {{10}, {11}}});
  EXPECT_EQ(result.state, store::RunState::complete);
  for (const SizeResult& size : result.sizes) {
    EXPECT_EQ(size.outcomes, (std::map<Outcome, std::uint64_t>{{Outcome::ok, 12}}));
    EXPECT_EQ(size.library_problem, "the library fails");
    EXPECT_EQ(seen.with_library.back(), LibraryPart::excluded);
    EXPECT_EQ(size.best->config_json, kFastest);
    EXPECT_EQ(size.best->ratio_to_library, std::nullopt);
    EXPECT_THAT(size.best->ratio_to_default, Optional(2.0));
  }
}

TEST_F(FaultTest, AfterTwoStrikesAConfigurationIsNotRunAtAnotherSize) {
  fail({"toy<3,3>"}, Outcome::timeout);
  static_cast<void>(run({.sizes = {{10}}}));
  static_cast<void>(run({.sizes = {{11}}}));
  device.launches.clear();
  const RunResult third = run({.sizes = {{12}}});
  EXPECT_EQ(third.sizes.front().outcomes.at(Outcome::quarantined), 1U);
  EXPECT_EQ(device.launches.count("toy<3,3>"), 0U);
  EXPECT_THAT(store.strikes(), SizeIs(1)) << "what was not run is not struck";

  EXPECT_EQ(store.clear_strikes({}), 1U);
  device.behaviours.erase("toy<3,3>");
  const RunResult cleared = run({.sizes = {{12}}});
  EXPECT_EQ(cleared.sizes.front().outcomes, (std::map<Outcome, std::uint64_t>{{Outcome::ok, 12}}));
}

TEST_F(FaultTest, FiveDifferentDeathsInARowAreTheDevicesFault) {
  fail({"toy<1,1>", "toy<1,2>", "toy<1,3>", "toy<2,2>", "toy<2,3>", "toy<3,1>", "toy<3,2>",
        "toy<3,3>", "toy<4,1>", "toy<4,2>", "toy<4,3>"},
       Outcome::crashed);
  try {
    static_cast<void>(run({.sizes = {{10}}}));
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::no_device);
    EXPECT_THAT(error.what(), HasSubstr("5 different configurations"));
  }
  EXPECT_THAT(store.strikes(), IsEmpty()) << "none of them is to blame";
  EXPECT_THAT(stored_trials(), SizeIs(6));
  EXPECT_EQ(store.runs().front().state, store::RunState::interrupted);
}

TEST_F(FaultTest, WhenNothingEverRanTheDeviceIsNotTheOnlySuspect) {
  fail({"toy<1,1>", "toy<1,2>", "toy<1,3>", "toy<2,1>", "toy<2,2>", "toy<2,3>", "toy<3,1>",
        "toy<3,2>", "toy<3,3>", "toy<4,1>", "toy<4,2>", "toy<4,3>"},
       Outcome::crashed);
  try {
    static_cast<void>(run({.sizes = {{10}}}));
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::failure);
    EXPECT_THAT(error.what(), HasSubstr("none completed"));
  }
}

TEST_F(FaultTest, ASuccessInBetweenMeansThatTheDeviceIsWell) {
  fail({"toy<1,1>", "toy<1,2>", "toy<1,3>", "toy<2,2>"}, Outcome::crashed);
  const RunResult result = run({.sizes = {{10}}});
  EXPECT_EQ(result.state, store::RunState::complete);
  EXPECT_EQ(result.sizes.front().outcomes.at(Outcome::crashed), 4U);
}

}  // namespace
}  // namespace tuner::session
