// SPDX-License-Identifier: Apache-2.0
#include "tuner/store/rows.hpp"

#include <gmock/gmock.h>

#include <limits>

namespace tuner::store {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// A record with each kind of field, as a recipe of CONTRIBUTING.md adds one.
struct Sample {
  std::string name;
  std::optional<TimeSummary> time;
  std::optional<double> added_ns;
  Outcome outcome = Outcome::ok;

  static constexpr auto fields() {
    return std::tuple(Field("name", &Sample::name), Field("time", &Sample::time),
                      Field("added_ns", &Sample::added_ns), Field("outcome", &Sample::outcome));
  }
};

TEST(Records, AFieldIsAColumnWithoutFurtherWords) {
  EXPECT_EQ(columns<Sample>("s."),
            "s.name, s.median_ns, s.q1_ns, s.q3_ns, s.min_ns, s.samples, s.added_ns, s.outcome");
  EXPECT_EQ(parameters<Sample>(), "?, ?, ?, ?, ?, ?, ?, ?");
}

TEST(Records, ReadBackAsTheyWereWritten) {
  SQLite::Database database(":memory:", SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
  database.exec("CREATE TABLE sample (" + columns<Sample>() + ")");
  const Sample timed{
      .name = "timed",
      .time = TimeSummary{.median_ns = 2, .q1_ns = 1.5, .q3_ns = 3, .min_ns = 1, .samples = 9},
      .added_ns = 0.1,
      .outcome = Outcome::ok};
  const Sample failed{
      .name = "failed", .time = {}, .added_ns = {}, .outcome = Outcome::compile_error};
  for (const Sample& each : {timed, failed}) {
    prepare(database, "INSERT INTO sample VALUES (" + parameters<Sample>() + ")", each).exec();
  }
  SQLite::Statement found(database, "SELECT " + columns<Sample>() + " FROM sample");
  ASSERT_TRUE(found.executeStep());
  const auto first = RowReader(found).value<Sample>();
  EXPECT_EQ(first.name, "timed");
  EXPECT_EQ(first.time->q3_ns, 3);
  EXPECT_EQ(first.time->samples, 9);
  EXPECT_EQ(first.added_ns, 0.1);
  ASSERT_TRUE(found.executeStep());
  const auto second = RowReader(found).value<Sample>();
  EXPECT_FALSE(second.time.has_value());
  EXPECT_FALSE(second.added_ns.has_value());
  EXPECT_EQ(second.outcome, Outcome::compile_error);
}

TEST(Samples, ReadBackAsTheVerySameNumbers) {
  const std::vector<double> samples = {1520.5, 1.0 / 3, 1e14, 5e-324};
  EXPECT_EQ(samples_from_json(samples_to_json(samples)), samples);
  EXPECT_EQ(samples_to_json({1520.5, 1498}), "[1520.5,1498]");
  EXPECT_THAT(samples_from_json("[]"), IsEmpty());
}

}  // namespace
}  // namespace tuner::store
