// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/format.hpp"

#include <gtest/gtest.h>

namespace tuner::report {
namespace {

TEST(Format, TimesTakeTheUnitThatSuits) {
  EXPECT_EQ(format_time(812), "812.0\u00a0ns");
  EXPECT_EQ(format_time(12'345), "12.35\u00a0µs");
  EXPECT_EQ(format_time(5'481'200), "5.481\u00a0ms");
  EXPECT_EQ(format_time(2.5e9), "2.500\u00a0s");
}

TEST(Format, CountsAreGroupedByThousands) {
  EXPECT_EQ(format_count(0), "0");
  EXPECT_EQ(format_count(999), "999");
  EXPECT_EQ(format_count(17'956), "17,956");
  EXPECT_EQ(format_count(1'234'567), "1,234,567");
}

TEST(Format, RatiosKeepTheDigitsThatMatter) {
  EXPECT_EQ(format_factor(1.059), "1.06×");
  EXPECT_EQ(format_factor(12.34), "12.3×");
  EXPECT_EQ(format_percent(0.4912), "49.1\u00a0%");
  EXPECT_EQ(format_percent(0.0123), "1.2\u00a0%");
  EXPECT_EQ(format_percent(1.083), "108\u00a0%");
}

TEST(Format, SizesAndBytes) {
  EXPECT_EQ(format_size("4096,1,7"), "4096×1×7");
  EXPECT_EQ(format_size("64,8,TRANS_B=1,LDA=72"), "64×8, TRANS_B=1, LDA=72");
  EXPECT_EQ(format_bytes(150'754'820'096.0), "140.4\u00a0GiB");
  EXPECT_EQ(format_bytes(60.0 * (1 << 20)), "60\u00a0MiB");
}

}  // namespace
}  // namespace tuner::report
