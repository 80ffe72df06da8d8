// SPDX-License-Identifier: Apache-2.0
#include "tuner/dispatch/kept_measurement.hpp"

#include "tuner/core/file.hpp"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

namespace tuner::dispatch {
namespace {

using testing::Optional;

MATCHER_P3(IsTime, identity, algorithm, time_ns, "") {
  return arg.identity == identity && arg.title == std::string("the ") + identity &&
         arg.library_algorithm == algorithm && arg.time_ns == time_ns;
}

class KeptMeasurementTest : public testing::Test {
 protected:
  [[nodiscard]] KeptMeasurement measurement() { return {cache, device, environment, candidates}; }
  void keep() {
    measurement().keep(std::vector<MeasuredCandidate>{
        {.identity = "slow", .title = "the slow", .time_ns = 1e9 / 3},
        {.identity = "lib", .title = "the lib", .library_algorithm = "lt/1", .time_ns = 1.25}});
  }
  [[nodiscard]] bool is_known() { return measurement().find().has_value(); }

  space::DeviceInfo device = space::device_profile("h200").value();
  space::EnvironmentInfo environment{.driver = "1", .compiler = "c", .library = "l", .tool = "t"};
  std::vector<std::string> candidates = {"fast", "slow", "not measured"};
  TemporaryDirectory folder;
  backend::BinaryCache cache{folder.path() / "tables"};
};

TEST_F(KeptMeasurementTest, IsFoundAsItWasKept) {
  EXPECT_FALSE(is_known());
  keep();
  EXPECT_THAT(measurement().find(), Optional(testing::ElementsAre(IsTime("slow", "", 1e9 / 3),
                                                                  IsTime("lib", "lt/1", 1.25))))
      << "in the order in which they were kept";
}

TEST_F(KeptMeasurementTest, IsOfItsDeviceVersionsAndCandidatesAlone) {
  keep();
  const auto with = [&](std::string& text, const char* other) {
    const std::string before = std::exchange(text, other);
    const bool known = is_known();
    text = before;
    return known;
  };
  EXPECT_FALSE(with(environment.driver, "2"));
  EXPECT_FALSE(with(environment.compiler, "2"));
  EXPECT_FALSE(with(environment.library, "2"));
  EXPECT_FALSE(with(environment.tool, "2"));
  EXPECT_FALSE(with(device.name, "another"));
  EXPECT_FALSE(with(candidates[2], "another"));
  EXPECT_TRUE(is_known());
  std::swap(candidates[0], candidates[1]);
  EXPECT_FALSE(is_known());
}

TEST_F(KeptMeasurementTest, ADamagedOrForeignFileIsNone) {
  keep();
  const auto entry = [&] { return *std::filesystem::directory_iterator(folder.path() / "tables"); };
  std::filesystem::permissions(entry(), std::filesystem::perms(0666));
  EXPECT_FALSE(is_known()) << "others may write it";
  keep();
  std::fstream(entry().path(), std::ios::in | std::ios::out).seekp(60).put('!');
  EXPECT_FALSE(is_known());
}

}  // namespace
}  // namespace tuner::dispatch
