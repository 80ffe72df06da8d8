// SPDX-License-Identifier: Apache-2.0
#include "tuner/backend/cuda/device_query.hpp"
#include "tuner/backend/cuda/versions.hpp"

#include <gtest/gtest.h>

namespace tuner::backend {
namespace {

TEST(DriverRelease, IsReadFromTheClosedAndTheOpenKernelModule) {
  EXPECT_EQ(driver_release("NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.54.03  Tue Jun  6\n"
                           "GCC version:  gcc version 12.2.0\n"),
            "535.54.03");
  EXPECT_EQ(driver_release("NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.159.04  "
                           "Release Build  (builder@host)\n"),
            "580.159.04");
}

TEST(DriverRelease, IsEmptyWhenThereIsNone) {
  EXPECT_EQ(driver_release(""), "");
  EXPECT_EQ(driver_release("no module\nGCC version:  gcc version 12.2.0\n"), "");
}

TEST(DriverNeeded, IsOfTheRuntimesMajorVersionOrTheOldest) {
  EXPECT_EQ(driver_needed(12040), kOldestDriver);
  EXPECT_EQ(driver_needed(12090), kOldestDriver) << "drivers run programs of later minor versions";
  EXPECT_EQ(driver_needed(13000), 13000);
  EXPECT_EQ(driver_needed(13020), 13000);
  EXPECT_EQ(version_text(12040), "12.4");
  EXPECT_EQ(version_text(13020), "13.2");
}

}  // namespace
}  // namespace tuner::backend
