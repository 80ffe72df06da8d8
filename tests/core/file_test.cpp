// SPDX-License-Identifier: Apache-2.0
#include "tuner/core/file.hpp"

#include "tuner/core/error.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <sys/stat.h>

namespace tuner {
namespace {

using testing::HasSubstr;

template <class Action>
std::string message_of(Action action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(File, ReadsBackWhatWasWritten) {
  const TemporaryDirectory directory;
  const auto path = directory.path() / "new" / "file";
  const std::string content("a\0b\n", 4);
  write_file(path, content);
  EXPECT_EQ(read_file(path, 100), content);
}

TEST(File, WritingReplacesAndLeavesNothingElseBehind) {
  const TemporaryDirectory directory;
  write_file(directory.path() / "file", "old and longer");
  write_file(directory.path() / "file", "new");
  EXPECT_EQ(read_file(directory.path() / "file", 100), "new");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(directory.path()), {}), 1);
}

TEST(File, RefusesWhatIsLargerThanTheLimit) {
  const TemporaryDirectory directory;
  write_file(directory.path() / "file", "12345");
  EXPECT_EQ(read_file(directory.path() / "file", 5), "12345");
  EXPECT_THAT(message_of([&] { static_cast<void>(read_file(directory.path() / "file", 4)); }),
              HasSubstr("larger than the limit of 4 bytes"));
}

TEST(File, SaysWhichFileCannotBeReadAndWhy) {
  EXPECT_THAT(message_of([] { static_cast<void>(read_file("/nowhere/file", 5)); }),
              testing::AllOf(HasSubstr("/nowhere/file"), HasSubstr("No such file")));
  EXPECT_THAT(message_of([] { static_cast<void>(read_file("/", 5)); }),
              HasSubstr("is a directory"));
}

TEST(File, SaysWhichFileCannotBeWritten) {
  const TemporaryDirectory directory;
  write_file(directory.path() / "file", "");
  const auto below_a_file = directory.path() / "file" / "below";
  EXPECT_THAT(message_of([&] { write_file(below_a_file, "x"); }), HasSubstr(below_a_file.string()));
}

TEST(PrivateDirectories, AreMadeForTheUserAlone) {
  const TemporaryDirectory directory;
  const mode_t umask_before = ::umask(0);
  const std::error_code error = make_private_directories(directory.path() / "a" / "b");
  ::umask(umask_before);
  EXPECT_FALSE(error) << error.message();
  for (const char* made : {"a", "a/b"}) {
    EXPECT_EQ(std::filesystem::status(directory.path() / made).permissions(),
              std::filesystem::perms::owner_all);
  }
  EXPECT_FALSE(make_private_directories(directory.path() / "a" / "b"));
}

TEST(PrivateDirectories, SayWhyTheyCannotBeMade) {
  const TemporaryDirectory directory;
  write_file(directory.path() / "file", "");
  EXPECT_EQ(make_private_directories(directory.path() / "file" / "below"), std::errc::file_exists);
}

TEST(TemporaryDirectory, IsPrivateAndGoesWithItsOwner) {
  std::filesystem::path path;
  {
    const TemporaryDirectory directory;
    path = directory.path();
    EXPECT_EQ(std::filesystem::status(path).permissions(), std::filesystem::perms::owner_all);
    write_file(path / "inside", "x");
  }
  EXPECT_FALSE(std::filesystem::exists(path));
}

}  // namespace
}  // namespace tuner
