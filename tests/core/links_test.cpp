// SPDX-License-Identifier: Apache-2.0
#include "tuner/core/links.hpp"

#include "tuner/core/error.hpp"
#include "tuner/core/file.hpp"
#include "tuner/core/trust.hpp"

#include <gmock/gmock.h>

#include <cstdio>
#include <fcntl.h>
#include <filesystem>
#include <unistd.h>

namespace tuner {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

constexpr uid_t kAnother = 12345;

class LinksTest : public testing::Test {
 protected:
  void SetUp() override {
    fs::create_directories(folder / "real" / "sub");
    write_file(folder / "real" / "file", "precious");
  }

  /// A link of the user's own, or of somebody else.
  fs::path link(const fs::path& target, const std::string& name) {
    fs::create_symlink(target, folder / name);
    return folder / name;
  }
  fs::path link_of_somebody(const fs::path& target, const std::string& name) {
    fs::path made = link(target, name);
    EXPECT_EQ(::lchown(made.c_str(), kAnother, kAnother), 0);
    return made;
  }

  TemporaryDirectory directory;
  fs::path folder = directory.path();
};

TEST_F(LinksTest, FollowsTheUsersOwn) {
  link("real", "first");
  link("first/sub/../file", "second");
  EXPECT_EQ(follow_links(folder / "second").path, folder / "real" / "file");
  EXPECT_EQ(follow_links(folder / "first" / "new" / "name").path, folder / "real" / "new" / "name");
  link(folder / "nowhere", "dangling");
  EXPECT_EQ(follow_links(folder / "dangling").path, folder / "nowhere");
  EXPECT_EQ(follow_links("../x/./y").path, "../x/y");
  EXPECT_EQ(follow_links("").path, ".");
}

TEST_F(LinksTest, EndsWhereLinksLeadInACircle) {
  link("b", "a");
  link("a", "b");
  EXPECT_FALSE(follow_links(folder / "a").link_of_another_user);
  EXPECT_THROW(write_file(folder / "a" / "file", ""), Error);
}

TEST_F(LinksTest, LeavesWhatIsOpenAlready) {
  const FollowedPath followed = follow_links("/proc/self/fd/1");
  EXPECT_TRUE(followed.is_open_file);
  EXPECT_EQ(followed.path, "/proc/self/fd/1");
}

TEST_F(LinksTest, OpensThroughNone) {
  link("real", "first");
  EXPECT_LT(open_without_links(folder / "first" / "file", O_RDONLY, 0), 0);
  const int opened = open_without_links(folder / "real" / "file", O_RDONLY | O_CLOEXEC, 0);
  EXPECT_GE(opened, 0);
  ::close(opened);
}

/// In the last component and in a directory; whose folder it is does not matter.
TEST_F(LinksTest, FollowsNoneOfAnotherUser) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can make a link of another user";
  const fs::path file = link_of_somebody("real/file", "file");
  const fs::path sub = link_of_somebody("real", "sub");
  for (const auto& [path, link] :
       {std::pair(file, file), {sub / "file", sub}, {sub / "new" / "file", sub}}) {
    EXPECT_EQ(follow_links(path).link_of_another_user, link);
    for (const auto& write : {+[](const fs::path& to) { write_file(to, "planted"); },
                              +[](const fs::path& to) { std::fclose(open_to_append(to)); }}) {
      try {
        write(path);
        ADD_FAILURE() << path << " was written";
      } catch (const Error& error) {
        EXPECT_THAT(error.what(), HasSubstr(link.string() + " is a link that belongs to another"));
      }
    }
    const auto found = distrust(path);
    ASSERT_TRUE(found) << path;
    EXPECT_THAT(found->why, HasSubstr("is a link that belongs to another user"));
  }
  EXPECT_EQ(read_file(folder / "real" / "file", 100), "precious");
  EXPECT_FALSE(fs::exists(folder / "real" / "new"));
}

}  // namespace
}  // namespace tuner
