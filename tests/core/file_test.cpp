// SPDX-License-Identifier: Apache-2.0
#include "tuner/core/file.hpp"

#include "tuner/core/error.hpp"
#include "tuner/core/hash.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>

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

TEST(File, IsReadInPieces) {
  const TemporaryDirectory directory;
  const auto path = directory.path() / "file";
  std::string content(std::size_t{40} << 20, 'a');
  for (std::size_t i = 0; i < content.size(); i += 4093) content[i] = static_cast<char>(i % 251);
  write_file(path, content);
  std::string read;
  std::size_t pieces = 0;
  read_pieces(path, [&](std::string_view piece) {
    read += piece;
    return ++pieces > 0;
  });
  EXPECT_EQ(read, content);
  EXPECT_GT(pieces, 1U);
  EXPECT_EQ(content_hash_of_file(path), content_hash({content}));
  pieces = 0;
  read_pieces(path, [&](std::string_view) { return ++pieces == 0; });
  EXPECT_EQ(pieces, 1U);
  const auto look_at = [](const char* what) {
    return message_of([&] { read_pieces(what, [](std::string_view) { return true; }); });
  };
  EXPECT_THAT(look_at("/nowhere/file"), HasSubstr("/nowhere/file: cannot be read"));
  EXPECT_THAT(look_at("/"), HasSubstr("is a directory"));
}

TEST(File, WritingReplacesAndLeavesNothingElseBehind) {
  const TemporaryDirectory directory;
  write_file(directory.path() / "file", "old and longer");
  write_file(directory.path() / "file", "new");
  EXPECT_EQ(read_file(directory.path() / "file", 100), "new");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(directory.path()), {}), 1);
}

/// A process that is frozen while it writes would show the name of its temporary file; here the
/// names that the thread's number gave are taken by links, which must lead nothing away.
TEST(File, WritesToNoNameThatCanBeForeseen) {
  const TemporaryDirectory directory;
  const auto victim = directory.path() / "victim";
  write_file(victim, "precious");
  const auto planted = directory.path() / ("file." + std::to_string(::gettid()) + ".tmp");
  std::filesystem::create_symlink(victim, planted);
  write_file(directory.path() / "file", "new");
  EXPECT_EQ(read_file(victim, 100), "precious");
  EXPECT_TRUE(std::filesystem::is_symlink(planted)) << "it belongs to somebody else";
}

TEST(File, FollowsNoLinkOfAnotherUserInAFolderForEverybody) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can make a link of another user";
  const TemporaryDirectory directory;
  const auto victim = directory.path() / "victim";
  const auto shared = directory.path() / "shared";
  write_file(victim, "precious");
  std::filesystem::create_directory(shared);
  std::filesystem::create_symlink(victim, shared / "planted");
  std::filesystem::create_symlink(victim, shared / "own");
  constexpr uid_t kNobody = 65534;
  ASSERT_EQ(::lchown((shared / "planted").c_str(), kNobody, kNobody), 0);
  ASSERT_EQ(::chmod(shared.c_str(), 01777), 0);
  EXPECT_THAT(message_of([&] { write_file(shared / "planted", "new"); }),
              HasSubstr("planted is a link that belongs to another user"));
  EXPECT_EQ(read_file(victim, 100), "precious");
  write_file(shared / "own", "new");
  EXPECT_EQ(read_file(victim, 100), "new");
}

TEST(File, ShowsWhatItOpenedBeforeItIsRead) {
  const TemporaryDirectory directory;
  write_file(directory.path() / "a", "text");
  off_t size = 0;
  EXPECT_EQ(
      read_file(directory.path() / "a", 100, [&](const auto& opened) { size = opened.st_size; }),
      "text");
  EXPECT_EQ(size, 4);
  const auto refuse = [](const auto&) { throw Error(ErrorCode::usage, "no"); };
  EXPECT_THROW(read_file(directory.path() / "a", 100, refuse), Error);
}

TEST(File, RandomWordsDiffer) {
  EXPECT_EQ(random_word().size(), 16U);
  EXPECT_NE(random_word(), random_word());
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

TEST(File, KeepsTheModeOfWhatItReplaces) {
  const TemporaryDirectory directory;
  const auto path = directory.path() / "file";
  for (const mode_t mode : {0600U, 0640U, 0755U}) {
    write_file(path, "old");
    ASSERT_EQ(::chmod(path.c_str(), mode), 0);
    write_file(path, "new");
    EXPECT_EQ(static_cast<mode_t>(std::filesystem::status(path).permissions()), mode);
  }
}

TEST(File, WritesWhereLinksLead) {
  namespace fs = std::filesystem;
  const TemporaryDirectory directory;
  fs::create_directory(directory.path() / "elsewhere");
  const auto link = directory.path() / "link";
  const auto file = directory.path() / "elsewhere" / "file";
  fs::create_symlink("elsewhere/file", link);
  write_file(link, "new");  // there is no such file yet
  EXPECT_EQ(read_file(file, 100), "new");
  const auto second = directory.path() / "second";
  fs::create_symlink(link, second);
  write_file(second, "newer");
  EXPECT_EQ(read_file(file, 100), "newer");
  EXPECT_TRUE(fs::is_symlink(link));
  EXPECT_TRUE(fs::is_symlink(second));
}

TEST(File, WritesIntoWhatIsNoRegularFile) {
  write_file("/dev/null", "nothing");
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
  const TemporaryDirectory directory;
  const auto pipe = directory.path() / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), S_IRUSR | S_IWUSR), 0);
  const int reader = ::open(pipe.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  write_file(pipe, "through the pipe");
  std::FILE* const log = open_to_append(pipe);
  std::fputs(" and a line", log);
  std::fclose(log);
  std::string text(100, '\0');
  text.resize(static_cast<std::size_t>(::read(reader, text.data(), text.size())));
  ::close(reader);
  EXPECT_EQ(text, "through the pipe and a line");
  EXPECT_TRUE(std::filesystem::is_fifo(pipe));
}

TEST(File, DoesNotWaitForAProgramToReadAPipe) {
  const TemporaryDirectory directory;
  const auto pipe = directory.path() / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), S_IRUSR | S_IWUSR), 0);
  EXPECT_THAT(message_of([&] { write_file(pipe, "text"); }),
              HasSubstr("cannot be written: it is a pipe that no program reads"));
  EXPECT_THAT(message_of([&] { std::fclose(open_to_append(pipe)); }),
              HasSubstr("cannot be opened: it is a pipe that no program reads"));
}

TEST(File, OpensALogToAppendToIt) {
  const TemporaryDirectory directory;
  for (const char* line : {"one\n", "two\n"}) {
    std::FILE* const log = open_to_append(directory.path() / "log");
    std::fputs(line, log);
    std::fclose(log);
  }
  EXPECT_EQ(read_file(directory.path() / "log", 100), "one\ntwo\n");
  std::fclose(open_to_append("/dev/null"));
  EXPECT_THAT(message_of([&] { std::fclose(open_to_append(directory.path())); }),
              HasSubstr("cannot be opened: Is a directory"));
}

TEST(File, LiesBelowAFolderWhereItsLinksLead) {
  namespace fs = std::filesystem;
  const TemporaryDirectory directory;
  const fs::path folder = directory.path() / "folder";
  write_file(folder / "sub" / "file", "");
  write_file(directory.path() / "secret", "");
  fs::create_symlink("../secret", folder / "out");
  fs::create_symlink("sub/file", folder / "in");
  EXPECT_TRUE(lies_below(folder / "sub" / "file", folder));
  EXPECT_TRUE(lies_below(folder / "in", folder));
  EXPECT_FALSE(lies_below(folder / "out", folder));
  EXPECT_FALSE(lies_below(folder / ".." / "secret", folder));
  EXPECT_FALSE(lies_below(folder / "missing", folder));
}

TEST(File, AddsToWhatIsOpenAlready) {
  const TemporaryDirectory directory;
  write_file(directory.path() / "log", "before\n");
  const int log = ::open((directory.path() / "log").c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
  ASSERT_GE(log, 0);
  write_file("/dev/fd/" + std::to_string(log), "after\n");
  ::close(log);
  EXPECT_EQ(read_file(directory.path() / "log", 100), "before\nafter\n");
}

TEST(File, ReadsAPipeOfTheShellButNoNamedOne) {
  int ends[2] = {-1, -1};
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  ASSERT_EQ(::write(ends[1], "12345", 5), 5);
  ::close(ends[1]);
  EXPECT_EQ(read_file("/dev/fd/" + std::to_string(ends[0]), 100), "12345");
  ::close(ends[0]);
  const TemporaryDirectory directory;
  const auto pipe = directory.path() / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), S_IRUSR | S_IWUSR), 0);
  EXPECT_THAT(message_of([&] { static_cast<void>(read_file(pipe, 100)); }),
              HasSubstr("is a named pipe, not a file"));
  EXPECT_THAT(message_of([] { static_cast<void>(read_file("/dev/zero", 100)); }),
              HasSubstr("is a device, not a file"));
}

/// An environment variable with a value of the test's own while it lives.
class Setting {
 public:
  Setting(const char* name, const char* value) : name_(name) {
    if (const char* before = std::getenv(name)) before_ = before;
    ::setenv(name, value, 1);
  }
  Setting(const Setting&) = delete;
  Setting& operator=(const Setting&) = delete;
  ~Setting() { before_ ? ::setenv(name_, before_->c_str(), 1) : ::unsetenv(name_); }

 private:
  const char* name_;
  std::optional<std::string> before_;
};

TEST(TemporaryDirectoryTest, AnEmptyNameIsNone) {
  const Setting setting("TMPDIR", "");
  const TemporaryDirectory directory;
  EXPECT_EQ(directory.path().parent_path(), "/tmp");
}

TEST(TemporaryDirectoryTest, SaysWhereAndHowToMendIt) {
  const Setting setting("TMPDIR", "/nowhere");
  EXPECT_THAT(message_of([] { const TemporaryDirectory directory; }),
              testing::AllOf(HasSubstr("/nowhere: no folder for temporary files"),
                             HasSubstr("No such file"), HasSubstr("TMPDIR")));
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
