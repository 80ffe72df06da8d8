// SPDX-License-Identifier: Apache-2.0
#include "tuner/store/database_file.hpp"

#include "tuner/core/error.hpp"
#include "tuner/core/file.hpp"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <filesystem>
#include <unistd.h>

namespace tuner::store {
namespace {

class DatabaseFileTest : public testing::Test {
 protected:
  void SetUp() override { write_file(path_, "a database"); }

  [[nodiscard]] PreparedFile prepared(Store::Trust trust = Store::Trust::own_files) const {
    return prepare_file(path_, Store::Mode::read_only, trust);
  }

  const TemporaryDirectory directory_;
  const std::filesystem::path path_ = directory_.path() / "tune.db";
};

TEST_F(DatabaseFileTest, IsTheOneThatWasFoundTrustworthy) {
  const PreparedFile file = prepared();
  const int opened = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC);
  EXPECT_NO_THROW(require_opened(file));
  ::close(opened);
}

TEST_F(DatabaseFileTest, IsNotOneThatTookItsPlace) {
  const PreparedFile file = prepared();
  write_file(directory_.path() / "other", "another database");
  std::filesystem::rename(directory_.path() / "other", path_);
  const int opened = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC);
  EXPECT_THROW(require_opened(file), Error);
  ::close(opened);
}

TEST_F(DatabaseFileTest, IsAnyOneWhereAllFilesAreTrusted) {
  EXPECT_NO_THROW(require_opened(prepared(Store::Trust::any_file)));
}

}  // namespace
}  // namespace tuner::store
