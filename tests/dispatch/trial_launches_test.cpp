// SPDX-License-Identifier: Apache-2.0
#include "tuner/dispatch/trial_launches.hpp"

#include "tests/dispatch/engine_fixture.hpp"
#include "tuner/dispatch/table.hpp"

#include <algorithm>
#include <set>

namespace tuner::dispatch {
namespace {

class TrialLaunchesTest : public testing::Test {
 protected:
  TrialLaunchesTest() : database(device.device(), device.environment()) {
    database.add({.size = "8,16,4"});
    auto families = read_families(Table::database(database.path()).source(), device.device(),
                                  device.environment(), snapshots);
    table = std::make_unique<FamilyTable>(std::move(families.at("product").outline),
                                          StalePolicy::use, reclaimer);
  }

  [[nodiscard]] TrialLaunches launches(const space::Size& size) {
    return TrialLaunches::make(device, memory, *table, size).value();
  }
  /// `place` among alpha, A, B, beta and C.
  static const float* at(const std::vector<DispatchArgument>& arguments, std::size_t place) {
    return reinterpret_cast<const float*>(static_cast<std::uintptr_t>(arguments[place].bits()));
  }

  FakeExecutor device;
  EpochReclaimer reclaimer;
  TunedDatabase database;
  TemporaryDirectory folder;
  backend::BinaryCache snapshots{folder.path() / "tables"};
  TrialMemory memory{device};
  std::unique_ptr<FamilyTable> table;
};

TEST_F(TrialLaunchesTest, InputsAreRandomNumbersAndOutputsZeros) {
  const TrialLaunches its = launches({64, 16, 8, 4});
  for (const auto& arguments : its.sets()) {
    for (const auto& [place, count] :
         {std::pair<std::size_t, std::size_t>{1, 64 * 8}, {2, 8 * 16}}) {
      const std::span numbers(at(arguments, place), count);
      EXPECT_GT(std::set(numbers.begin(), numbers.end()).size(), count / 2);
      EXPECT_LT(*std::ranges::max_element(numbers), 4.001F);
    }
    EXPECT_EQ(std::ranges::count(std::span(at(arguments, 4), 64 * 16), 0.0F), 64 * 16);
  }
}

TEST_F(TrialLaunchesTest, SetsShareNoBufferAndAreAlignedAsTheSizeSays) {
  const TrialLaunches its = launches({64, 16, 8, 1});
  EXPECT_EQ(its.sets().size(), 32U) << "as many as there may be of so small a size";
  std::vector<std::pair<std::uintptr_t, std::size_t>> buffers;
  for (const auto& arguments : its.sets()) {
    buffers.emplace_back(arguments[1].bits(), 4U * 64 * 8);
    buffers.emplace_back(arguments[2].bits(), 4U * 8 * 16);
    buffers.emplace_back(arguments[4].bits(), 4U * 64 * 16);
  }
  std::ranges::sort(buffers);
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    EXPECT_EQ(buffers[i].first % 16, 4U);
    if (i == 0) continue;
    EXPECT_GE(buffers[i].first, buffers[i - 1].first + buffers[i - 1].second);
  }
}

TEST_F(TrialLaunchesTest, ALargeSizeHasFewSetsAndMemoryIsTheLimit) {
  const auto cache_bytes = static_cast<std::size_t>(device.device().attributes.l2_bytes);
  const auto rows = static_cast<std::int64_t>(cache_bytes / (4 * 16)) / 8 * 8;
  const TrialLaunches its = launches({rows, 16, 16, 4});  // A and C are a cache's size each
  EXPECT_EQ(its.sets().size(), 3U);
  device.has_memory = false;
  EXPECT_FALSE(TrialLaunches::make(device, memory, *table, {2 * rows, 16, 16, 4}));
}

}  // namespace
}  // namespace tuner::dispatch
