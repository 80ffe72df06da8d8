// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/format.hpp"

#include "tuner/core/error.hpp"

#include <gtest/gtest.h>

#include <string>

namespace tuner::cli {
namespace {

using std::chrono::milliseconds;

TEST(Format, GivesATimeThreeSignificantDigits) {
  EXPECT_EQ(format_time(84.21), "84.2 ns");
  EXPECT_EQ(format_time(8'421), "8.42 µs");
  EXPECT_EQ(format_time(842'100), "842 µs");
  EXPECT_EQ(format_time(12'345'678), "12.3 ms");
  EXPECT_EQ(format_time(2.5e9), "2.50 s");
}

TEST(Format, NeverRoundsATimeToAFourthDigit) {
  EXPECT_EQ(format_time(9.996), "10.0 ns");
  EXPECT_EQ(format_time(99.96), "100 ns");
  EXPECT_EQ(format_time(999.7), "1.00 µs");
  EXPECT_EQ(format_time(999'700), "1.00 ms");
  EXPECT_EQ(format_time(999'700'000), "1.00 s");
}

TEST(Format, GivesARateInTheUnitOfTheField) {
  EXPECT_EQ(format_rate(2.0 * 4096 * 4096 * 4096, 2.75e6), "50.0 TFLOP/s");
  EXPECT_EQ(format_rate(812, 1), "812 GFLOP/s");
  EXPECT_EQ(format_rate(999.8, 1), "1.00 TFLOP/s");
  EXPECT_EQ(format_rate(0, 1), "–");
  EXPECT_EQ(format_rate(1, 0), "–");
}

TEST(Format, MarksAnUnknownRatio) {
  EXPECT_EQ(format_ratio(1.0712), "×1.07");
  EXPECT_EQ(format_ratio(std::nullopt), "–");
}

TEST(Format, GivesADurationInItsTwoLargestUnits) {
  EXPECT_EQ(format_duration(milliseconds(41'600)), "42 s");
  EXPECT_EQ(format_duration(milliseconds(59'600)), "1 min 00 s");
  EXPECT_EQ(format_duration(milliseconds(65'000)), "1 min 05 s");
  EXPECT_EQ(format_duration(milliseconds(7'380'000)), "2 h 03 min");
}

TEST(Format, GroupsDigitsAndCountsNouns) {
  EXPECT_EQ(format_count(0), "0");
  EXPECT_EQ(format_count(999), "999");
  EXPECT_EQ(format_count(1'000), "1,000");
  EXPECT_EQ(format_count(1'234'567), "1,234,567");
  EXPECT_EQ(format_count(1, "trial"), "1 trial");
  EXPECT_EQ(format_count(2'000, "trial"), "2,000 trials");
}

TEST(Format, ListsFailuresAndNotSuccesses) {
  EXPECT_EQ(format_failures({{Outcome::ok, 7}}), "none");
  EXPECT_EQ(
      format_failures({{Outcome::ok, 7}, {Outcome::compile_error, 23}, {Outcome::wrong_result, 1}}),
      "23 compile_error, 1 wrong_result");
}

TEST(Duration, ReadsUnitsAndTheirSums) {
  EXPECT_EQ(parse_duration("90", "--max-time"), milliseconds(90'000));
  EXPECT_EQ(parse_duration("90s", "--max-time"), milliseconds(90'000));
  EXPECT_EQ(parse_duration("500ms", "--max-time"), milliseconds(500));
  EXPECT_EQ(parse_duration("1h30m", "--max-time"), milliseconds(5'400'000));
}

TEST(Duration, RefusesWhatIsNoneAndNamesTheOption) {
  for (const char* text :
       {"", "soon", "-5", "0", "10 m", "10y", "m", "1.5h", "99999999999999999999", "9999h"}) {
    try {
      static_cast<void>(parse_duration(text, "--max-time"));
      FAIL() << "'" << text << "' was read as a duration";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::usage);
      EXPECT_TRUE(std::string(error.what()).starts_with("--max-time: '" + std::string(text) + "'"))
          << error.what();
    }
  }
}

}  // namespace
}  // namespace tuner::cli
