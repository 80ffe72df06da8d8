// SPDX-License-Identifier: Apache-2.0
#include "tuner/worker/watched_backend.hpp"

#include "tests/support/scripted_backend.hpp"

#include <gmock/gmock.h>

#include <vector>

namespace tuner::worker {
namespace {

TEST(WatchedBackendTest, ALaunchWhoseWritesAreFollowedIsExpectedToTakeSeconds) {
  testing_support::ScriptedBackend device([](const backend::Work&) { return 100.0; });
  std::vector<DeviceStep> steps;
  WatchedBackend watched(device, device.compiler(),
                         [&](const DeviceStep& step) { steps.push_back(step); });
  const auto kernel = watched.load({});
  ASSERT_TRUE(kernel);
  watched.put_on_trial(*kernel);
  backend::Launch launch{.kernel = *kernel, .steps = {}};
  ASSERT_TRUE(watched.run(launch));
  ASSERT_TRUE(watched.run(launch));
  launch.faults_on_write = true;
  ASSERT_TRUE(watched.run(launch));
  ASSERT_EQ(steps.size(), 3U);
  EXPECT_FALSE(steps[0].launch_s) << "nothing is known of it";
  EXPECT_LT(steps[1].launch_s, 5) << "as it took before";
  EXPECT_GE(steps[2].launch_s, 5);
}

}  // namespace
}  // namespace tuner::worker
