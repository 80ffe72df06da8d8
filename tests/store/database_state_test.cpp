// SPDX-License-Identifier: Apache-2.0
#include "tuner/store/database_state.hpp"

#include "example_records.hpp"
#include "tuner/core/error.hpp"
#include "tuner/core/file.hpp"
#include "tuner/store/store.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <thread>

namespace tuner::store {
namespace {

class DatabaseStateTest : public testing::Test {
 protected:
  /// Once the file's time can tell the next commit.
  [[nodiscard]] std::string settled() const {
    for (;;) {
      if (const auto state = database_state(path)) return *state;
      std::this_thread::yield();
    }
  }
  void commit() const {
    Store store(path, Store::Mode::read_write);
    static_cast<void>(store.begin_run(example_subject(), example_run("s")));
  }

  TemporaryDirectory directory;
  std::filesystem::path path = directory.path() / "tune.sqlite";
};

TEST_F(DatabaseStateTest, ChangesWithACommitAndWithNothingElse) {
  commit();
  const std::string before = settled();
  { const Store reader(path, Store::Mode::read_only); }
  EXPECT_EQ(settled(), before);
  Store writer(path, Store::Mode::read_write);
  static_cast<void>(writer.begin_run(example_subject(), example_run("t")));
  EXPECT_FALSE(database_state(path)) << "a second commit could have the same time";
  EXPECT_NE(settled(), before);
}

TEST_F(DatabaseStateTest, IsUnknownWhileATransactionIsUnderWay) {
  commit();
  static_cast<void>(settled());
  std::ofstream(path.string() + "-journal") << "half-done";
  EXPECT_FALSE(database_state(path));
}

TEST_F(DatabaseStateTest, TrustsNoFileThatAStoreWouldNot) {
  EXPECT_THROW(static_cast<void>(database_state(path)), Error) << "there is none";
  commit();
  std::filesystem::permissions(path, std::filesystem::perms::others_write,
                               std::filesystem::perm_options::add);
  EXPECT_THROW(static_cast<void>(database_state(path)), Error);
}

}  // namespace
}  // namespace tuner::store
