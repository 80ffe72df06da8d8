// SPDX-License-Identifier: Apache-2.0
// What acts on the device besides a run: other processes, noticed before it and during it, and
// what limits the clock.
#include "tests/session/session_fixture.hpp"
#include "tuner/core/error.hpp"

namespace tuner::session {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;

class SharedDeviceTest : public SessionTest {
 protected:
  static RunPlan accepting(space::Size size) {
    return {.sizes = {std::move(size)}, .shared_device = SharedDevice::accepted};
  }
};

TEST_F(SharedDeviceTest, RefusesToBegin) {
  device.now.other_processes = {4711};
  try {
    static_cast<void>(run({.sizes = {{10}}}));
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::no_device);
    EXPECT_THAT(error.what(), AllOf(HasSubstr("4711"), HasSubstr("--allow-shared")));
  }
  EXPECT_THAT(store.runs(), IsEmpty());
}

TEST_F(SharedDeviceTest, RefusesToBeginUnderMps) {
  device.now.mps = true;
  try {
    static_cast<void>(run({.sizes = {{10}}}));
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::no_device);
    EXPECT_THAT(error.what(), AllOf(HasSubstr("MPS"), HasSubstr("--allow-shared")));
  }
  EXPECT_THAT(store.runs(), IsEmpty());
  EXPECT_TRUE(run(accepting({10})).shared);
}

TEST_F(SharedDeviceTest, MarksWhatItAccepted) {
  device.now.other_processes = {4711};
  EXPECT_TRUE(run(accepting({10})).shared);
  EXPECT_TRUE(store.runs().front().shared);
  ASSERT_EQ(stored_best(), kFastest);
  EXPECT_TRUE(store.bests({}).front().best.shared);
}

TEST_F(SharedDeviceTest, MarksARunThatWasJoinedLater) {
  device.on_launch = [this](const std::string&) { device.now.other_processes = {4711}; };
  EXPECT_TRUE(run({.sizes = {{10}}}).shared);
  EXPECT_TRUE(store.runs().front().shared);
}

TEST_F(SharedDeviceTest, StoresTheClockAndWhatLimitsIt) {
  static_cast<void>(run({.sizes = {{10}}}));
  EXPECT_EQ(store.bests({}).front().best.clock_limit, ClockLimit{});
  EXPECT_FALSE(store.bests({}).front().best.clock_mhz);
  device.clock = [] { return std::optional(1755.0); };
  device.now.clock_limit = {.max_clock_mhz = 1980, .power_limit_w = 700};
  static_cast<void>(run({.sizes = {{20}}}));
  EXPECT_EQ(store.bests({}).front().best.clock_limit, device.now.clock_limit);
  EXPECT_EQ(store.bests({}).front().best.clock_mhz, 1755);
}

TEST_F(SharedDeviceTest, LeavesWhatWasBestBefore) {
  EXPECT_FALSE(run({.sizes = {{10}}}).shared);
  device.behaviours["toy<4,2>"].time_ns = 100;
  device.now.other_processes = {4711};
  static_cast<void>(
      run({.sizes = {{10}}, .resume = Resume::no, .shared_device = SharedDevice::accepted}));
  EXPECT_EQ(stored_best(), kFastest);
  EXPECT_FALSE(store.bests({}).front().best.shared);

  device.now.other_processes = {};
  static_cast<void>(run({.sizes = {{10}}, .resume = Resume::no}));
  EXPECT_EQ(stored_best(), R"({"DEPTH":2,"TILE":4})");
}

}  // namespace
}  // namespace tuner::session
