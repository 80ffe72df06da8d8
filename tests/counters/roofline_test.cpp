// SPDX-License-Identifier: Apache-2.0
#include "tuner/counters/roofline.hpp"

#include <gtest/gtest.h>

namespace tuner::counters {
namespace {

constexpr double kMs = 1e6;  // nanoseconds

TEST(RooflineSentence, NamesTheSideTheRateAndItsShareOfThePeak) {
  // 4096³ in float on an H200: 2 N³ operations, 12 N² bytes.
  Roofline gemm{
      .flops = 137.4e9, .bytes = 201.3e6, .peak_flops_per_s = 66.9e12, .peak_bytes_per_s = 4.8e12};
  EXPECT_EQ(roofline_sentence(gemm, 2.85 * kMs),
            "683 FLOP/byte, compute side: 48.2 TFLOP/s, 72 % of the nominal 66.9 TFLOP/s");
  gemm.bytes = 40e9;
  EXPECT_EQ(roofline_sentence(gemm, 10 * kMs),
            "3.44 FLOP/byte, memory side: 4.00 TB/s, 83 % of the nominal 4.80 TB/s");
}

TEST(RooflineSentence, SaysWhatIsKnown) {
  EXPECT_EQ(roofline_sentence({.bytes = 134.2e6, .peak_bytes_per_s = 4.8e12}, 0.05 * kMs),
            "memory side: 2.68 TB/s, 56 % of the nominal 4.80 TB/s");
  EXPECT_EQ(roofline_sentence({.flops = 2e9, .bytes = 1e6}, kMs), "2000 FLOP/byte, 2.00 TFLOP/s");
  EXPECT_EQ(roofline_sentence({}, kMs), "");
}

TEST(ShareOfRoof, IsOfTheRoofThatIsLower) {
  const Roofline roofline{
      .flops = 1e12, .bytes = 1e9, .peak_flops_per_s = 50e12, .peak_bytes_per_s = 1e12};
  EXPECT_DOUBLE_EQ(share_of_roof(roofline, 40 * kMs), 0.5);
  EXPECT_DOUBLE_EQ(share_of_roof({.flops = 1e12, .bytes = 1e9, .peak_bytes_per_s = 1e12}, 4 * kMs),
                   0.25);
  EXPECT_EQ(share_of_roof({.flops = 1e12}, kMs), 0);
}

}  // namespace
}  // namespace tuner::counters
