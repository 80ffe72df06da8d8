// SPDX-License-Identifier: Apache-2.0
#include "tuner/core/sandbox.hpp"

#include "tuner/core/file.hpp"

#include <climits>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <functional>
#include <future>
#include <mqueue.h>
#include <sched.h>
#include <spawn.h>
#include <string>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
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
  EXPECT_EQ(confined([&] { return refused(::removexattr(old.c_str(), "user.a")); }), EACCES);
}

TEST_F(SandboxTest, TimesAndFlagsOfFilesStay) {
  const std::string old = (outside() / "old").string();
  const auto refused = [](long done) { return done == 0 ? 0 : errno; };
  const timespec times[2] = {{.tv_sec = 1000, .tv_nsec = 0}, {.tv_sec = 1000, .tv_nsec = 0}};
  EXPECT_EQ(confined([&] { return refused(::utimensat(AT_FDCWD, old.c_str(), times, 0)); }),
            EACCES);
#ifdef SYS_utime
  EXPECT_EQ(confined([&] { return refused(::syscall(SYS_utime, old.c_str(), nullptr)); }), EACCES);
  EXPECT_EQ(confined([&] { return refused(::syscall(SYS_utimes, old.c_str(), nullptr)); }), EACCES);
#endif
  EXPECT_EQ(confined([&] {
              constexpr unsigned long kSetFlags = _IOW('f', 2, long);  // FS_IOC_SETFLAGS
              const long flags = 0;
              return refused(::ioctl(::open(old.c_str(), O_RDONLY), kSetFlags, &flags));
            }),
            EACCES);
}

TEST_F(SandboxTest, CallsThatAreLaterThanThisProgramAreUnknown) {
  if (!sandbox_support().seccomp) GTEST_SKIP() << "this machine has no seccomp";
  constexpr long kSetXattrAt = 463;
  constexpr long kRemoveXattrAt = 466;
  constexpr long kFileSetAttr = 469;
  constexpr long kNever = 100'000;
  const std::string old = (outside() / "old").string();
  struct {
    const char* value = "b";
    unsigned size = 1, flags = 0;
  } const attribute;
  for (const long call : {kSetXattrAt, kRemoveXattrAt, kFileSetAttr, kNever}) {
    EXPECT_EQ(confined([&] {
                const long done = ::syscall(call, AT_FDCWD, old.c_str(), 0, "user.a", &attribute,
                                            sizeof attribute);
                return done == 0 ? 0 : errno;
              }),
              ENOSYS)
        << call;
  }
  EXPECT_EQ(::getxattr(old.c_str(), "user.a", nullptr, 0), -1);
}

TEST_F(SandboxTest, LimitsAndPrioritiesOfOtherProcessesStay) {
  const auto refused = [](long done) { return done == 0 ? 0 : errno; };
  const pid_t other = ::getpid();
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_EQ(confined([&] { return refused(::prlimit(other, RLIMIT_NOFILE, &before, nullptr)); }),
            EACCES);
  EXPECT_EQ(confined([&] {
              rlimit own{};
              return refused(::getrlimit(RLIMIT_NOFILE, &own) + ::setrlimit(RLIMIT_NOFILE, &own));
            }),
            0);
  EXPECT_EQ(
      confined([&] { return refused(::setpriority(PRIO_PROCESS, static_cast<id_t>(other), 0)); }),
      EACCES);
  cpu_set_t all, after;
  ASSERT_EQ(::sched_getaffinity(0, sizeof all, &all), 0);
  confined([&] {
    cpu_set_t first;
    CPU_ZERO(&first);
    for (std::size_t cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&first) == 0; ++cpu) {
      if (CPU_ISSET(cpu, &all)) CPU_SET(cpu, &first);
    }
    return ::sched_setaffinity(other, sizeof first, &first);
  });
  ASSERT_EQ(::sched_getaffinity(0, sizeof after, &after), 0);
  ::sched_setaffinity(0, sizeof all, &all);
  EXPECT_TRUE(CPU_EQUAL(&all, &after));
}

TEST_F(SandboxTest, MemoryAndQueuesOfOtherProgramsAreNeitherUsedNorMade) {
  const int segment = ::shmget(IPC_PRIVATE, 4096, IPC_CREAT | 0600);
  ASSERT_GE(segment, 0) << errno;
  const std::string queue = "/tune-test-" + random_word();
  EXPECT_EQ(confined([&] {
              return ::shmat(segment, nullptr, 0) != reinterpret_cast<void*>(-1) ? 0 : errno;
            }),
            EACCES);
  ::shmctl(segment, IPC_RMID, nullptr);
  const auto made = [](long id) { return id >= 0 ? 0 : errno; };
  EXPECT_EQ(confined([&] { return made(::shmget(IPC_PRIVATE, 4096, IPC_CREAT | 0600)); }), EACCES);
  EXPECT_EQ(confined([&] { return made(::msgget(IPC_PRIVATE, IPC_CREAT | 0600)); }), EACCES);
  EXPECT_EQ(confined([&] { return made(::semget(IPC_PRIVATE, 1, IPC_CREAT | 0600)); }), EACCES);
  EXPECT_EQ(
      confined([&] { return made(::mq_open(queue.c_str(), O_CREAT | O_RDWR, 0600, nullptr)); }),
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

TEST_F(SandboxTest, NothingIsSentToASocketThatIsNotAPartner) {
  const auto error_of_pair = [this](int domain, int type) {
    return confined([&] {
      int ends[2];
      return ::socketpair(domain, type, 0, ends) == 0 ? 0 : errno;
    });
  };
  EXPECT_EQ(error_of_pair(AF_UNIX, SOCK_DGRAM), EACCES);
  EXPECT_EQ(error_of_pair(AF_UNIX, SOCK_RAW | SOCK_CLOEXEC), EACCES);
  EXPECT_EQ(error_of_pair(AF_TIPC, SOCK_STREAM), EACCES);
  EXPECT_EQ(error_of_pair(AF_UNIX, SOCK_SEQPACKET), 0) << "it sends to its partner alone";
}

TEST_F(SandboxTest, FilesAreNeitherWatchedNorLeased) {
  const auto error_of = [](long result) { return result < 0 ? errno : 0; };
  EXPECT_EQ(confined([&] { return error_of(::inotify_init1(0)); }), EACCES);
  EXPECT_EQ(confined([&] {
              const int file = ::open("/bin/true", O_RDONLY);
              return error_of(::fcntl(file, F_SETLEASE, F_RDLCK));
            }),
            EACCES);
  EXPECT_EQ(confined([&] { return error_of(::fcntl(STDIN_FILENO, F_SETOWN, ::getppid())); }),
            EACCES);
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
  constexpr long kMemfdSecret = 447;
  EXPECT_EQ(limited([] { return ::syscall(kMemfdSecret, 0) >= 0 ? 0 : errno; }), ENOMEM);
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

/// Of a child that may start no process and write 64 MiB: 0, or why it has no more.
int limited_to_64_mib(const std::function<const void*()>& takes) {
  return in_a_child([&] {
    refuse_processes();
    limit_memory(std::uint64_t{64} << 20);
    return takes() == MAP_FAILED ? errno : 0;
  });
}

TEST(LimitedMemory, CountsStacks) {
  if (!sandbox_support().seccomp) GTEST_SKIP() << "this machine has no seccomp";
  constexpr std::size_t kMore = std::size_t{128} << 20;
  constexpr int kWritable = PROT_READ | PROT_WRITE;
  constexpr int kPrivate = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
  EXPECT_EQ(limited_to_64_mib(
                [] { return ::mmap(nullptr, kMore, kWritable, kPrivate | MAP_GROWSDOWN, -1, 0); }),
            ENOMEM);
  EXPECT_EQ(limited_to_64_mib([] {
              int on_the_stack = 0;
              const auto page =
                  reinterpret_cast<std::uintptr_t>(&on_the_stack) & ~std::uintptr_t{4095};
              void* const copied = reinterpret_cast<void*>(page);
              return ::mremap(copied, 4096, kMore, MREMAP_MAYMOVE);
            }),
            ENOMEM);
  EXPECT_EQ(in_a_child([] {
              limit_memory(0);
              rlimit stack{};
              ::getrlimit(RLIMIT_STACK, &stack);
              return stack.rlim_max <= kMore ? 0 : 1;
            }),
            0);
}

TEST(SandboxSupport, SaysWhatIsThere) {
  EXPECT_EQ((SandboxSupport{.landlock = 7, .seccomp = true}).text(), "Landlock 7, seccomp");
  EXPECT_EQ(SandboxSupport{}.text(), "no Landlock, no seccomp");
  EXPECT_EQ((SandboxSupport{.landlock = 7, .seccomp = true}).lack(), "");
  EXPECT_THAT((SandboxSupport{.landlock = 7, .seccomp = false}).lack(),
              testing::HasSubstr("no seccomp: "));
  EXPECT_THAT((SandboxSupport{.landlock = 0, .seccomp = true}).lack(),
              testing::HasSubstr("no Landlock: "));
  EXPECT_THAT(SandboxSupport{}.lack(), testing::HasSubstr("not confined"));
}

}  // namespace
}  // namespace tuner
