// SPDX-License-Identifier: Apache-2.0
#include "tuner/store/local_copy.hpp"

#include "tests/store/example_store.hpp"
#include "tuner/core/error.hpp"

#include <gtest/gtest.h>

#include <fstream>

namespace tuner::store {
namespace {

using Mode = Store::Mode;

class LocalCopyTest : public testing::Test {
 protected:
  static void make(const std::filesystem::path& path) {
    static_cast<void>(Store(path, Mode::read_write));
  }
  std::size_t files() const {
    const std::filesystem::directory_iterator all(place.path());
    return static_cast<std::size_t>(std::distance(begin(all), end(all)));
  }

  TemporaryDirectory place;
  std::filesystem::path saved = place.path() / "results.db";
};

TEST_F(LocalCopyTest, ADatabaseOfThisMachineIsOnNoNetwork) {
  EXPECT_EQ(LocalCopy::network_of(saved), "");
  EXPECT_EQ(LocalCopy::network_of(place.path() / "not" / "there.db"), "");
}

TEST_F(LocalCopyTest, IsSavedWhereThereWasNone) {
  LocalCopy copy(saved);
  make(copy.path());
  EXPECT_FALSE(copy.save());
  EXPECT_NO_THROW(Store(saved, Mode::read_only));
  EXPECT_FALSE(copy.save());
  EXPECT_EQ(files(), 1U);
}

TEST_F(LocalCopyTest, HasWhatTheDatabaseHas) {
  make(saved);
  LocalCopy copy(saved);
  EXPECT_NO_THROW(Store(copy.path(), Mode::read_only));
}

TEST_F(LocalCopyTest, AChangeOfAnotherRunIsNotOverwritten) {
  LocalCopy copy(saved);
  make(copy.path());
  std::ofstream(saved) << "another run";
  const auto told = copy.save();
  ASSERT_TRUE(told);
  EXPECT_NE(told->find("tune merge"), std::string::npos);
  EXPECT_EQ(read_file(saved, 100), "another run");
  EXPECT_FALSE(copy.save()) << "told once";
  EXPECT_EQ(files(), 2U);
}

TEST_F(LocalCopyTest, StaysWhereItCannotBeSaved) {
  const std::filesystem::path blocked = place.path() / "file" / "results.db";
  std::filesystem::path left;
  {
    LocalCopy copy(blocked);
    make(left = copy.path());
    std::ofstream(place.path() / "file") << "no directory";
    EXPECT_THROW(static_cast<void>(copy.save()), Error);
  }
  EXPECT_TRUE(std::filesystem::exists(left));
  std::filesystem::remove_all(left.parent_path());
}

TEST_F(LocalCopyTest, IsRemovedOnceItWasSavedAfterAll) {
  const std::filesystem::path blocked = place.path() / "file" / "results.db";
  std::filesystem::path copied;
  {
    LocalCopy copy(blocked);
    make(copied = copy.path());
    std::ofstream(place.path() / "file") << "no directory";
    EXPECT_THROW(static_cast<void>(copy.save()), Error);
    std::filesystem::remove(place.path() / "file");
    EXPECT_FALSE(copy.save());
  }
  EXPECT_FALSE(std::filesystem::exists(copied.parent_path()));
}

TEST_F(LocalCopyTest, ASaveThatFailsLeavesNoPartOfItself) {
  LocalCopy copy(saved);
  std::ofstream(copy.path()) << std::string(4096, 'x');  // no database
  EXPECT_THROW(static_cast<void>(copy.save()), Error);
  EXPECT_EQ(files(), 0U);
  std::filesystem::remove_all(copy.path().parent_path());
}

}  // namespace
}  // namespace tuner::store
