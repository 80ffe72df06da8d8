// SPDX-License-Identifier: Apache-2.0
#include "tuner/core/trust.hpp"

#include "tuner/core/file.hpp"

#include <gmock/gmock.h>

#include <cstdint>
#include <filesystem>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

namespace tuner {
namespace {

using testing::HasSubstr;

class TrustTest : public testing::Test {
 protected:
  void SetUp() override { write_file(file, "content"); }

  [[nodiscard]] std::string why(const std::filesystem::path& path) const {
    const auto found = distrust(path);
    return found ? found->why + ": " + found->remedy : "trusted";
  }

  TemporaryDirectory folder;
  std::filesystem::path file = folder.path() / "table.json";
};

TEST_F(TrustTest, TrustsTheUsersOwnFileAndOneThatIsNotThereYet) {
  EXPECT_EQ(why(file), "trusted");
  EXPECT_EQ(why(folder.path() / "new"), "trusted");
  EXPECT_EQ(why(folder.path() / "new" / "folder" / "file"), "trusted");
}

TEST_F(TrustTest, TrustsFilesOfRoot) {
  EXPECT_EQ(why("/etc/passwd"), "trusted");
}

TEST_F(TrustTest, RefusesWhatOthersMayWriteByItsName) {
  ASSERT_EQ(::chmod(file.c_str(), 0666), 0);
  EXPECT_THAT(why(file), HasSubstr("other users may write to the file " + file.string()));
  EXPECT_THAT(why(file), HasSubstr("chmod go-w " + file.string()));
  ASSERT_EQ(::chmod(file.c_str(), 0600), 0);
  ASSERT_EQ(::chmod(folder.path().c_str(), 0777), 0);
  EXPECT_THAT(why(file), HasSubstr("other users may write to the directory"));
  EXPECT_THAT(why(folder.path() / "new" / "file"), HasSubstr("the directory"));
}

/// The group's bits then say what somebody in the list may do, not what the user's own group may.
TEST_F(TrustTest, RefusesWhatAnAccessControlListLetsAnotherUserWrite) {
  struct Entry {
    std::uint16_t tag, permissions;
    std::uint32_t id;
  };
  struct {  // linux/posix_acl_xattr.h
    std::uint32_t version = 2;
    Entry entries[5] = {{1, 6, ~0U}, {2, 6, 65534}, {4, 6, ~0U}, {0x10, 6, ~0U}, {0x20, 0, ~0U}};
  } list;
  if (::setxattr(file.c_str(), "system.posix_acl_access", &list, sizeof list, 0) != 0) {
    GTEST_SKIP() << "this file system has no access control lists";
  }
  EXPECT_THAT(why(file), HasSubstr("other users may write to the file"));
}

TEST_F(TrustTest, RefusesWhatIsInADirectoryForEverybody) {
  EXPECT_THAT(why("/tmp/no file of this name"), HasSubstr("in a directory of your own"));
}

TEST_F(TrustTest, FollowsALinkToWhatItLeadsTo) {
  const auto link = folder.path() / "link";
  std::filesystem::create_symlink(file, link);
  EXPECT_EQ(why(link), "trusted");
  ASSERT_EQ(::chmod(file.c_str(), 0666), 0);
  EXPECT_THAT(why(link), HasSubstr("other users may write"));
}

TEST_F(TrustTest, RefusesFilesAndLinksOfAnotherUser) {
  constexpr uid_t kSomebody = 12345;
  const auto link = folder.path() / "link";
  std::filesystem::create_symlink(file, link);
  if (::lchown(link.c_str(), kSomebody, kSomebody) != 0)
    GTEST_SKIP() << "only root gives files away";
  EXPECT_THAT(why(link), HasSubstr("a link that belongs to another user"));
  ASSERT_EQ(::chown(file.c_str(), kSomebody, kSomebody), 0);
  EXPECT_THAT(why(file), HasSubstr("belongs to another user"));
}

TEST(NamesCode, KnowsTheEndingsOfSources) {
  EXPECT_TRUE(names_code("../src/kernel.cu"));
  EXPECT_TRUE(names_code("/opt/include/a.hpp"));
  EXPECT_FALSE(names_code("/etc/passwd"));
  EXPECT_FALSE(names_code("../.ssh/id_rsa"));
  EXPECT_FALSE(names_code("../notes.cu.txt"));
}

}  // namespace
}  // namespace tuner
