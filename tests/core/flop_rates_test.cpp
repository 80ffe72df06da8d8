// SPDX-License-Identifier: Apache-2.0
#include "tuner/core/flop_rates.hpp"

#include <gtest/gtest.h>

namespace tuner {
namespace {

/// At its highest clock, in TFLOP/s: of an H200 NVIDIA's data sheet says 67, 67, 989 and 1,979.
double h200_tflops(ElementType type) {
  return *nominal_flops_per_cycle(90, type) * 132 * 1.83e9 / 1e12;
}

TEST(FlopRates, AreThoseOfTheDataSheet) {
  EXPECT_NEAR(h200_tflops(ElementType::f32), 67, 6);
  EXPECT_NEAR(h200_tflops(ElementType::f64), 67, 6);
  EXPECT_NEAR(h200_tflops(ElementType::bf16), 989, 2);
  EXPECT_NEAR(h200_tflops(ElementType::e4m3), 1979, 2);
  EXPECT_NEAR(h200_tflops(ElementType::tf32), 495, 2);
}

TEST(FlopRates, AreNotKnownOfOtherArchitecturesAndWiderIntegers) {
  EXPECT_FALSE(nominal_flops_per_cycle(990, ElementType::f32));
  EXPECT_FALSE(nominal_flops_per_cycle(90, ElementType::s32));
  EXPECT_EQ(flop_rates(990), nullptr);
}

}  // namespace
}  // namespace tuner
