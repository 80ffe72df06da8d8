// SPDX-License-Identifier: Apache-2.0
#include "tuner/dispatch/database_snapshot.hpp"

#include "tests/dispatch/product_family.hpp"
#include "tuner/select/rank.hpp"
#include "tuner/store/database_state.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <fstream>
#include <thread>

namespace tuner::dispatch {
namespace {

using testing::ElementsAreArray;

class DatabaseSnapshotTest : public testing::Test {
 protected:
  DatabaseSnapshotTest() : database(device, environment) {
    for (int m = 8; m <= 256; m *= 2) {
      for (const char* kernel : {"rows", "split"}) {
        database.add({.size = fmt::format("{},16,4", m),
                      .kernel = kernel,
                      .config = kernel == std::string("rows") ? R"({"TILE":2})" : R"({"PARTS":4})",
                      .median_ns = 1000.0 + m});
      }
    }
  }
  /// Of the database when its file's time can tell the next commit.
  [[nodiscard]] DatabaseSnapshot snapshot() {
    while (!store::database_state(database.path())) std::this_thread::yield();
    return {cache, database.path(), device, environment};
  }
  [[nodiscard]] select::Catalogue read() const {
    return select::catalogue(store::Store(database.path(), store::Store::Mode::read_only),
                             {.device = device.name, .environment = environment});
  }
  [[nodiscard]] std::vector<std::string> answers(const select::Catalogue& catalogue) const {
    std::vector<std::string> lines = catalogue.explanation;
    for (const char* size : {"8,16,4", "24,16,4", "1000,7,3"}) {
      for (const select::Selection& it :
           select::rank(catalogue, {.family = "product", .size = size}).answers) {
        lines.push_back(
            fmt::format("{} {} {}", name(it.rung), it.config_json, it.expected_ns.value_or(0)));
      }
    }
    return lines;
  }

  space::DeviceInfo device = space::device_profile("h200").value();
  space::EnvironmentInfo environment{.driver = "1", .compiler = "c", .library = "l", .tool = "t"};
  TunedDatabase database;
  TemporaryDirectory folder;
  backend::BinaryCache cache{folder.path() / "tables"};
};

TEST_F(DatabaseSnapshotTest, AnswersAsTheDatabaseUntilItChanges) {
  const DatabaseSnapshot before = snapshot();
  EXPECT_FALSE(before.find());
  before.keep(read());
  auto kept = snapshot().find();
  ASSERT_TRUE(kept);
  for (std::size_t i = 0; i < kept->known.kernels.size(); ++i) {
    EXPECT_TRUE(kept->known.kernels[i].entries.empty()) << "read when they are asked for";
    select::read_results(kept->known.kernels[i], kept->unread[i], device.attributes);
  }
  EXPECT_THAT(answers(kept->known), ElementsAreArray(answers(read())));
  database.add({.size = "8,16,4", .config = R"({"TILE":4})"});
  EXPECT_FALSE(snapshot().find());
}

TEST_F(DatabaseSnapshotTest, KeepsNothingThatMayBeOlderThanTheDatabase) {
  const DatabaseSnapshot before = snapshot();
  const select::Catalogue old = read();
  database.add({.size = "8,16,4", .config = R"({"TILE":4})"});
  before.keep(old);
  EXPECT_FALSE(snapshot().find());
}

TEST_F(DatabaseSnapshotTest, IsOfOneDeviceAndEnvironment) {
  snapshot().keep(read());
  space::DeviceInfo other = device;
  other.attributes.sm_count = 66;
  EXPECT_FALSE(DatabaseSnapshot(cache, database.path(), other, environment).find());
  space::EnvironmentInfo newer = environment;
  newer.driver = "2";
  EXPECT_FALSE(DatabaseSnapshot(cache, database.path(), device, newer).find());
}

}  // namespace
}  // namespace tuner::dispatch
