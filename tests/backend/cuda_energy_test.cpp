// SPDX-License-Identifier: Apache-2.0
// The window of an energy counter that moves in steps; needs no GPU.
#include "tuner/backend/cuda/energy_meter.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace tuner::backend {
namespace {

TEST(EnergyWindow, IsFromTheFirstStepOfTheCounterToTheLast) {
  EnergyWindow window;
  window.add(100, 0.30, 10);
  window.add(100, 0.31, 11);
  EXPECT_EQ(window.seconds(), 0);
  window.add(130, 0.34, 12);  // the first step
  window.add(130, 0.40, 13);
  window.add(190, 0.44, 16);
  window.add(190, 0.46, 17);  // no step: not in the window
  EXPECT_DOUBLE_EQ(window.joules(), 60);
  EXPECT_NEAR(window.seconds(), 0.10, 1e-12);
  EXPECT_EQ(window.runs(), 4);
}

TEST(EnergyWindow, IsEmptyWithoutTwoSteps) {
  EnergyWindow window;
  for (int i = 0; i < 100; ++i) window.add(100, 0.01 * i, i);
  EXPECT_EQ(window.seconds(), 0);
  window.add(101, 1.1, 101);
  EXPECT_EQ(window.seconds(), 0);
  EXPECT_EQ(window.runs(), 0);
}

/// A counter that moves every 100 ms, as the slowest do, read every 10 ms at a constant 700 W.
TEST(EnergyWindow, ReadsAConstantPowerToOnePercentWithinTwoSeconds) {
  EnergyWindow window;
  for (int i = 0; window.seconds() < 2; ++i) {
    const double seconds = 0.0131 + 0.0101 * i;
    window.add(70 * std::floor(seconds / 0.1), seconds, i);
  }
  EXPECT_NEAR(window.joules() / window.seconds(), 700, 7);
}

}  // namespace
}  // namespace tuner::backend
