// SPDX-License-Identifier: Apache-2.0
#include "tuner/core/quantity.hpp"

#include <gtest/gtest.h>

namespace tuner {
namespace {

using std::chrono::duration;

TEST(Number, KeepsSignificantDigits) {
  EXPECT_EQ(quantity::number(41.9234, 3), "41.9");
  EXPECT_EQ(quantity::number(0.0123456, 3), "0.0123");
  EXPECT_EQ(quantity::number(12'345, 3), "12300");
  EXPECT_EQ(quantity::number(0, 3), "0");
}

TEST(Time, TakesTheUnitThatSuits) {
  EXPECT_EQ(quantity::time(84.21), "84.2 ns");
  EXPECT_EQ(quantity::time(8'421), "8.42 µs");
  EXPECT_EQ(quantity::time(842'100), "842 µs");
  EXPECT_EQ(quantity::time(12'345'678), "12.3 ms");
  EXPECT_EQ(quantity::time(2.5e9), "2.50 s");
  EXPECT_EQ(quantity::time(5'481'200, 4), "5.481 ms");
}

TEST(Time, NeverRoundsToOneDigitMore) {
  EXPECT_EQ(quantity::time(9.996), "10.0 ns");
  EXPECT_EQ(quantity::time(99.96), "100 ns");
  EXPECT_EQ(quantity::time(999.7), "1.00 µs");
  EXPECT_EQ(quantity::time(999'700'000), "1.00 s");
  EXPECT_EQ(quantity::time(999.97, 4), "1.000 µs");
}

TEST(Duration, IsGivenInItsTwoLargestUnits) {
  EXPECT_EQ(quantity::duration(duration<double>(0.42)), "0.42 s");
  EXPECT_EQ(quantity::duration(duration<double>(9.97)), "10 s");
  EXPECT_EQ(quantity::duration(std::chrono::milliseconds(41'600)), "42 s");
  EXPECT_EQ(quantity::duration(std::chrono::milliseconds(59'600)), "1 min 00 s");
  EXPECT_EQ(quantity::duration(duration<double>(192)), "3 min 12 s");
  EXPECT_EQ(quantity::duration(duration<double>(7380)), "2 h 03 min");
}

TEST(Count, GroupsDigitsAndCountsNouns) {
  EXPECT_EQ(quantity::count(0), "0");
  EXPECT_EQ(quantity::count(999), "999");
  EXPECT_EQ(quantity::count(1'000), "1,000");
  EXPECT_EQ(quantity::count(1'234'567), "1,234,567");
  EXPECT_EQ(quantity::count(1, "trial"), "1 trial");
  EXPECT_EQ(quantity::count(2'000, "trial"), "2,000 trials");
}

}  // namespace
}  // namespace tuner
