// SPDX-License-Identifier: Apache-2.0
#include "tuner/core/sandbox.hpp"

#include "tuner/core/file.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <functional>
#include <future>
#include <sched.h>
#include <spawn.h>
#include <string>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <thread>
#include <unistd.h>

namespace tuner {
namespace {

namespace fs = std::filesystem;

/// What a child says by its exit code: a process is confined for good.
int in_a_child(const std::function<int()>& says) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(says());
  int status = -1;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/// 0, or why a file could not be opened.
int open_error(const fs::path& path, int flags) {
  const int file = ::open(path.c_str(), flags | O_CLOEXEC, 0600);
  if (file < 0) return errno;
  ::close(file);
  return 0;
}

/// A pseudoterminal that nobody reads.
class Terminal {
 public:
  Terminal() : master_(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC)) {
    EXPECT_EQ(::grantpt(master_) + ::unlockpt(master_), 0);
  }
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;
  ~Terminal() { ::close(master_); }
  [[nodiscard]] fs::path path() const { return ::ptsname(master_); }

 private:
  int master_;
};

class SandboxTest : public testing::Test {
 protected:
  void SetUp() override {
    if (sandbox_support().landlock == 0) GTEST_SKIP() << "this machine has no Landlock";
    fs::create_directory(own());
    write_file(outside() / "old", "old");
  }
  fs::path own() const { return place_.path() / "own"; }
  fs::path outside() const { return place_.path(); }

  /// What a confined child says by its exit code.
  int confined(const std::function<int()>& says, OutsideAccess outside = OutsideAccess::refused) {
    return confined({.writable = {own(), "/no such folder"}, .outside = outside}, says);
  }
  static int confined(const Confinement& confinement, const std::function<int()>& says) {
    return in_a_child([&] {
      confine_process(confinement);
      return says();
    });
  }

 private:
  TemporaryDirectory place_;
};

TEST_F(SandboxTest, FilesAreWrittenInTheGivenFoldersAlone) {
  EXPECT_EQ(confined([&] { return open_error(own() / "new", O_WRONLY | O_CREAT); }), 0);
  EXPECT_TRUE(fs::exists(own() / "new"));
  EXPECT_EQ(confined([&] { return open_error(outside() / "new", O_WRONLY | O_CREAT); }), EACCES);
  EXPECT_EQ(confined([&] { return open_error(outside() / "old", O_WRONLY); }), EACCES);
  EXPECT_FALSE(fs::exists(outside() / "new"));
}

TEST_F(SandboxTest, NothingElseIsRemovedRenamedOrMade) {
  const auto refused = [](int done) { return done == 0 ? 0 : errno; };
  EXPECT_EQ(confined([&] { return refused(::unlink((outside() / "old").c_str())); }), EACCES);
  EXPECT_EQ(confined([&] { return refused(::mkdir((outside() / "made").c_str(), 0700)); }), EACCES);
  EXPECT_EQ(confined([&] {
              return refused(::rename((outside() / "old").c_str(), (own() / "stolen").c_str()));
            }),
            sandbox_support().landlock >= 2 ? EACCES : EXDEV);
  if (sandbox_support().landlock >= 3) {
    EXPECT_EQ(confined([&] { return refused(::truncate((outside() / "old").c_str(), 0)); }),
              EACCES);
  }
  EXPECT_EQ(read_file(outside() / "old", 10), "old");
}

TEST_F(SandboxTest, FilesAreReadAndDevicesThatHoldNothingWritten) {
  EXPECT_EQ(confined([&] { return open_error(outside() / "old", O_RDONLY); }), 0);
  EXPECT_EQ(confined([] { return open_error("/dev/null", O_WRONLY); }), 0);
}

TEST_F(SandboxTest, OnlyTheGivenFilesAreRead) {
  write_file(outside() / "listed", "listed");
  write_file(own() / "mine", "mine");
  const Confinement reading{.writable = {own()}, .readable = {{outside() / "listed", "/usr"}}};
  const auto error_of = [&](const fs::path& path) {
    return confined(reading, [&] { return open_error(path, O_RDONLY); });
  };
  EXPECT_EQ(error_of(outside() / "old"), EACCES);
  EXPECT_EQ(error_of(outside()), EACCES) << "a folder is not listed";
  EXPECT_EQ(error_of("/etc/passwd"), EACCES);
  EXPECT_EQ(error_of("/dev/tty"), EACCES);
  EXPECT_EQ(error_of(outside() / "listed"), 0);
  EXPECT_EQ(error_of(own() / "mine"), 0);
  EXPECT_EQ(error_of("/dev/zero"), 0);
  EXPECT_EQ(error_of("/usr"), 0);
}

TEST_F(SandboxTest, TerminalsAndMemoryOfOtherProgramsAreNotWritten) {
  const Terminal terminal;
  const fs::path shared = "/dev/shm/tune-test-" + random_word();
  write_file(shared, "of another program");
  for (const OutsideAccess outside : {OutsideAccess::refused, OutsideAccess::kept}) {
    EXPECT_EQ(confined([&] { return open_error(terminal.path(), O_WRONLY | O_NOCTTY); }, outside),
              EACCES);
    EXPECT_EQ(confined([&] { return open_error(shared, O_WRONLY); }, outside), EACCES);
  }
  fs::remove(shared);
}

TEST_F(SandboxTest, NothingIsTypedAtATerminal) {
  const Terminal terminal;
  const auto type = [&] {
    ::setsid();
    const int mine = ::open(terminal.path().c_str(), O_RDONLY);  // its terminal from now on
    return ::ioctl(mine, TIOCSTI, "x") == 0 ? 0 : errno;
  };
  EXPECT_EQ(confined(type), EACCES);
  EXPECT_NE(in_a_child(type), EACCES);
}

TEST_F(SandboxTest, PermissionsOwnersAndAttributesStay) {
  const std::string old = (outside() / "old").string();
  const auto refused = [](long done) { return done == 0 ? 0 : errno; };
  EXPECT_EQ(confined([&] { return refused(::chmod(old.c_str(), 0666)); }), EACCES);
  EXPECT_EQ(confined([&] { return refused(::fchmodat(AT_FDCWD, old.c_str(), 0666, 0)); }), EACCES);
  EXPECT_EQ(confined([&] { return refused(::fchmod(::open(old.c_str(), O_RDONLY), 0666)); }),
            EACCES);
  EXPECT_EQ(confined([&] { return refused(::chown(old.c_str(), ::getuid(), ::getgid())); }),
            EACCES);
  EXPECT_EQ(confined([&] { return refused(::setxattr(old.c_str(), "user.a", "b", 1, 0)); }),
            EACCES);
}

TEST_F(SandboxTest, RootHasNoCapabilitiesAndDoesNotAdministerTheMachine) {
  EXPECT_EQ(
      confined([] { return open_error(fmt::format("/proc/{}/environ", ::getppid()), O_RDONLY); }),
      EACCES);
  EXPECT_EQ(confined([] { return ::unshare(CLONE_NEWUTS) == 0 ? 0 : errno; }), EACCES);
}

TEST_F(SandboxTest, ProgramsThatAreStartedAreConfinedToo) {
  const std::string command =
      "echo x > '" + (outside() / "by a program").string() + "' 2>/dev/null";
  EXPECT_NE(confined([&] { return std::system(command.c_str()) == 0 ? 0 : 1; }), 0);
  EXPECT_FALSE(fs::exists(outside() / "by a program"));
}

TEST_F(SandboxTest, OtherProcessesGetNoSignal) {
  if (sandbox_support().landlock < 6) GTEST_SKIP() << "Landlock is older than version 6";
  EXPECT_EQ(confined([] { return ::kill(::getppid(), 0) == 0 ? 0 : errno; }), EPERM);
}

TEST_F(SandboxTest, SocketsToOtherMachinesAndProgramsAreRefused) {
  const auto error_of = [](int domain) {
    const int descriptor = ::socket(domain, SOCK_STREAM, 0);
    return descriptor >= 0 ? 0 : errno;
  };
  EXPECT_EQ(confined([&] { return error_of(AF_INET); }), EACCES);
  EXPECT_EQ(confined([&] { return error_of(AF_INET6); }), EACCES);
  EXPECT_EQ(confined([&] { return error_of(AF_UNIX); }), EACCES);
  EXPECT_EQ(confined([] {
              int ends[2];
              return ::socketpair(AF_UNIX, SOCK_STREAM, 0, ends);
            }),
            0);
  EXPECT_EQ(confined([&] { return error_of(AF_INET); }, OutsideAccess::kept),
            in_a_child([&] { return error_of(AF_INET); }));
}

/// Whether a call that returns a process's id made one; the process, if so, ends.
int made_by(pid_t (*call)()) {
  const pid_t made = call();
  if (made == 0) ::_exit(0);
  if (made > 0) ::waitpid(made, nullptr, 0);
  return made > 0 ? 0 : errno;
}

TEST(RefusedProcesses, ThreadsStartAndNoProcesses) {
  if (!sandbox_support().seccomp) GTEST_SKIP() << "this machine has no seccomp";
  const auto limited = [](const std::function<int()>& says) {
    return in_a_child([&] {
      refuse_processes();
      return says();
    });
  };
  EXPECT_EQ(limited([] { return made_by(::fork); }), EAGAIN);
  EXPECT_EQ(limited([] {
              pid_t child = -1;
              char program[] = "/bin/true";
              char* arguments[] = {program, nullptr};
              return ::posix_spawn(&child, program, nullptr, nullptr, arguments, nullptr);
            }),
            EAGAIN);
  EXPECT_EQ(limited([] { return ::execl("/bin/true", "true", nullptr) == 0 ? 0 : errno; }), EAGAIN);
  EXPECT_EQ(limited([] {
              int said = 0;
              std::thread([&] { said = 7; }).join();
              return said;
            }),
            7);
  EXPECT_EQ(limited([] { return ::prctl(PR_SET_PDEATHSIG, 0) == 0 ? 0 : errno; }), EACCES);
  EXPECT_EQ(limited([] { return ::memfd_create("memory", 0) >= 0 ? 0 : errno; }), ENOMEM);
  EXPECT_EQ(limited([] {
              const void* const shared =
                  ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
              return shared == MAP_FAILED ? errno : 0;
            }),
            ENOMEM);
}

TEST(RefusedProcesses, ThreadsThatRunAlreadyStartNoneEither) {
  if (!sandbox_support().seccomp) GTEST_SKIP() << "this machine has no seccomp";
  EXPECT_EQ(in_a_child([] {
              std::promise<void> limited;
              int said = 0;
              std::thread older([&] {
                limited.get_future().wait();
                said = made_by(::fork);
              });
              refuse_processes();
              limited.set_value();
              older.join();
              return said;
            }),
            EAGAIN);
}

TEST(LimitedMemory, IsWhatCanBeWritten) {
  constexpr std::size_t kMiB = std::size_t{1} << 20;
  const auto mapped = [](std::size_t size_bytes, int protection) {
    return in_a_child([&] {
      limit_memory(64 * kMiB);
      const void* const memory = ::mmap(nullptr, size_bytes, protection,
                                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
      return memory == MAP_FAILED ? errno : 0;
    });
  };
  EXPECT_EQ(mapped(32 * kMiB, PROT_READ | PROT_WRITE), 0);
  EXPECT_EQ(mapped(65 * kMiB, PROT_READ | PROT_WRITE), ENOMEM);
  EXPECT_EQ(mapped(4096 * kMiB, PROT_READ), 0) << "guards of a buffer";
}

TEST(SandboxSupport, SaysWhatIsThere) {
  EXPECT_EQ((SandboxSupport{.landlock = 7, .seccomp = true}).text(), "Landlock 7, seccomp");
  EXPECT_EQ(SandboxSupport{}.text(), "no Landlock, no seccomp");
}

}  // namespace
}  // namespace tuner
