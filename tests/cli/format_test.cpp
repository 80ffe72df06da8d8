// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/format.hpp"

#include "tuner/core/error.hpp"

#include <gtest/gtest.h>

#include <string>

namespace tuner::cli {
namespace {

using std::chrono::milliseconds;

TEST(Format, GivesARateInTheUnitOfTheField) {
  EXPECT_EQ(format_rate(2.0 * 4096 * 4096 * 4096, 3.0 * 4 * 4096 * 4096, 2.75e6), "50.0 TFLOP/s");
  EXPECT_EQ(format_rate(812, 1, 1), "812 GFLOP/s");
  EXPECT_EQ(format_rate(999.8, 1, 1), "1.00 TFLOP/s");
  EXPECT_EQ(format_rate(0, 8.0 * 4096 * 4096, 32e3), "4.19 TB/s") << "where there are no FLOP";
  EXPECT_EQ(format_rate(0, 0, 1), "–");
  EXPECT_EQ(format_rate(1, 1, 0), "–");
}

TEST(Format, MarksAnUnknownRatio) {
  EXPECT_EQ(format_ratio(1.0712), "×1.07");
  EXPECT_EQ(format_ratio(std::nullopt), "–");
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
  EXPECT_EQ(parse_duration("0.001s", "--max-time"), milliseconds(1));
  EXPECT_EQ(parse_duration("1.5h0.5s", "--max-time"), milliseconds(5'400'500));
  EXPECT_EQ(parse_duration("2.5", "--max-time"), milliseconds(2'500));
}

TEST(Duration, RefusesWhatIsNoneAndNamesTheOption) {
  for (const char* text : {"", "soon", "-5", "0", "10 m", "10y", "m", "1.h.5m", "1e3s", "inf",
                           "nan", "0.0001s", "99999999999999999999", "9999h"}) {
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

TEST(FormatEnergy, IsOfARunWithTheOperationsPerJoule) {
  EXPECT_EQ(format_energy(137.4e9, 1.82), "1.82 J a run, 75.5 GFLOP/s/W");
  EXPECT_EQ(format_energy(0, 0.0123), "12.3 mJ a run");
  EXPECT_EQ(format_energy(2e6, 45e-6), "45.0 µJ a run, 44.4 GFLOP/s/W");
  EXPECT_FALSE(gflops_per_watt(1e9, std::nullopt));
}

}  // namespace
}  // namespace tuner::cli
