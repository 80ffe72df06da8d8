// SPDX-License-Identifier: Apache-2.0
#include "tuner/core/sandbox.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <fcntl.h>
#include <fstream>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <string>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <system_error>
#include <unistd.h>

namespace tuner {
namespace {

// Landlock as in Documentation/userspace-api/landlock.rst of Linux 6.12: Debian 12's header ends
// with version 2.
namespace landlock {

constexpr std::uint32_t kAskVersion = 1U << 0;
constexpr int kPathBeneath = 1;
constexpr std::uint64_t kWriteFile = 1ULL << 1;
constexpr std::uint64_t kReadFile = 1ULL << 2;
constexpr std::uint64_t kReadFolder = 1ULL << 3;
/// Removing and making files of every kind, renaming between folders (version 2), truncating (3).
constexpr std::uint64_t kRemoveAndMake = ((1ULL << 13) - 1) & ~((1ULL << 4) - 1);
constexpr std::uint64_t kRefer = 1ULL << 13;
constexpr std::uint64_t kTruncate = 1ULL << 14;
constexpr std::uint64_t kScopeSignal = 1ULL << 1;  // version 6

struct Ruleset {
  std::uint64_t handled_access_fs = 0;
  std::uint64_t handled_access_net = 0;  // version 4
  std::uint64_t scoped = 0;              // version 6
};
struct [[gnu::packed]] PathBeneath {
  std::uint64_t allowed_access = 0;
  std::int32_t parent_fd = -1;
};

int version() {
  const long answer = ::syscall(SYS_landlock_create_ruleset, nullptr, 0, kAskVersion);
  return answer > 0 ? static_cast<int>(answer) : 0;
}

/// The changes of files that a version can refuse.
std::uint64_t changes(int version) {
  std::uint64_t all = kWriteFile | kRemoveAndMake;
  if (version >= 2) all |= kRefer;
  if (version >= 3) all |= kTruncate;
  return all;
}

/// A rule for a file takes only what can be done with a file.
bool is_folder(int place) {
  struct stat status {};
  return ::fstat(place, &status) == 0 && S_ISDIR(status.st_mode);
}

void allow(int ruleset, const std::filesystem::path& path, std::uint64_t access) {
  const int place = ::open(path.c_str(), O_PATH | O_CLOEXEC);
  if (place < 0) return;
  if (!is_folder(place)) access &= kWriteFile | kReadFile | kTruncate;
  const PathBeneath rule{.allowed_access = access, .parent_fd = place};
  static_cast<void>(::syscall(SYS_landlock_add_rule, ruleset, kPathBeneath, &rule, 0));
  ::close(place);
}

/// Devices that hold nothing, and GPUs; not terminals, disks and memory of other programs
/// (/dev/shm). /dev/zero is read only: as a writable mapping it is memory that no limit counts.
void allow_devices(int ruleset, std::uint64_t access) {
  constexpr std::array kNames = {"null", "zero", "full", "random", "urandom", "dri", "dxg"};
  constexpr std::array kPrefixes = {"nvidia", "nvhost", "nvmap", "nvgpu", "nvsciipc"};
  std::error_code unreadable;
  for (const auto& device : std::filesystem::directory_iterator("/dev", unreadable)) {
    const std::string name = device.path().filename().string();
    const auto begins = [&](const char* prefix) { return name.starts_with(prefix); };
    if (std::ranges::find(kNames, name) != kNames.end() || std::ranges::any_of(kPrefixes, begins)) {
      allow(ruleset, device.path(), name == "zero" ? access & kReadFile : access);
    }
  }
}

void confine(const Confinement& confinement) {
  const int known = version();
  if (known == 0) return;
  const std::uint64_t reads = confinement.readable ? kReadFile | kReadFolder : 0;
  const Ruleset handled{.handled_access_fs = changes(known) | reads,
                        .scoped = known >= 6 ? kScopeSignal : 0};
  const std::size_t size = known >= 6 ? sizeof handled : sizeof handled.handled_access_fs;
  const auto ruleset = static_cast<int>(::syscall(SYS_landlock_create_ruleset, &handled, size, 0));
  if (ruleset < 0) return;
  for (const std::filesystem::path& folder : confinement.writable) {
    allow(ruleset, folder / "", handled.handled_access_fs);
  }
  if (confinement.readable) {
    for (const std::filesystem::path& path : *confinement.readable) allow(ruleset, path, reads);
  }
  allow_devices(ruleset, kWriteFile | (reads & kReadFile));
  static_cast<void>(::syscall(SYS_landlock_restrict_self, ruleset, 0));
  ::close(ruleset);
}

}  // namespace landlock

/// A seccomp filter, a step at a time. A refused call fails with EACCES.
class CallFilter {
 public:
  CallFilter() {
    load(offsetof(seccomp_data, arch));
    add(BPF_JMP | BPF_JEQ | BPF_K, kArchitecture, 1, 0);
    answer(ENOSYS);
    load(offsetof(seccomp_data, nr));
    add(BPF_JMP | BPF_JGT | BPF_K, kLastCall, 0, 1);
    answer(ENOSYS);
  }

  void refuse(long call, int error = EACCES) {
    add(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(call), 0, 1);
    answer(error);
  }
  /// Where the lower half of an argument, as far as the mask covers it, has that value.
  void refuse_where(long call, std::size_t argument, std::uint32_t mask, std::uint32_t value,
                    int error = EACCES) {
    load_argument(call, argument, mask);
    add(BPF_JMP | BPF_JEQ | BPF_K, value, 0, 1);
    answer(error);
    load(offsetof(seccomp_data, nr));
  }
  /// Where an argument is the id of a process or thread: 0 is the one that calls.
  void refuse_for_others(long call, std::size_t argument, int error = EACCES) {
    load_argument(call, argument, 0xffff'ffff);
    add(BPF_JMP | BPF_JEQ | BPF_K, 0, 1, 0);
    answer(error);
    load(offsetof(seccomp_data, nr));
  }
  /// To this thread and those that it starts, or to all.
  void apply(unsigned flags = 0) {
    add(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    const sock_fprog filter{.len = static_cast<unsigned short>(steps_.size()),
                            .filter = steps_.data()};
    static_cast<void>(::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &filter));
  }

 private:
#if defined(__x86_64__)
  static constexpr std::uint32_t kArchitecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
  static constexpr std::uint32_t kArchitecture = AUDIT_ARCH_AARCH64;
#else
#error "the system calls of this processor are not known"
#endif
  /// mseal, of Linux 6.10. Later calls are answered as an older kernel would, since nobody has
  /// judged them here: setxattrat (463), removexattrat (466), file_setattr (469). So are those of
  /// the x32 mode.
  static constexpr std::uint32_t kLastCall = 462;

  void add(unsigned code, std::uint32_t value, std::uint8_t if_true = 0,
           std::uint8_t if_false = 0) {
    steps_.push_back({static_cast<std::uint16_t>(code), if_true, if_false, value});
  }
  void load(std::size_t offset) {
    add(BPF_LD | BPF_W | BPF_ABS, static_cast<std::uint32_t>(offset));
  }
  /// Another call goes on after the three steps that follow.
  void load_argument(long call, std::size_t argument, std::uint32_t mask) {
    add(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(call), 0, 5);
    // The lower half comes first on these processors.
    load(offsetof(seccomp_data, args) + argument * sizeof(std::uint64_t));
    add(BPF_ALU | BPF_AND | BPF_K, mask);
  }
  void answer(int error) {
    add(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | static_cast<std::uint32_t>(error));
  }

  std::vector<sock_filter> steps_;
};

// On all processors; Debian 12's headers lack the last.
constexpr long kIoUringSetup = 425;
constexpr long kMemfdSecret = 447;
constexpr long kFchmodat2 = 452;

/// What Landlock leaves unconfined of a file: its permissions, owner, times and attributes.
void refuse_attributes(CallFilter& filter) {
  for (const long call :
       {kFchmodat2, long{SYS_fchmod}, long{SYS_fchmodat}, long{SYS_fchown}, long{SYS_fchownat},
        long{SYS_utimensat}, long{SYS_setxattr}, long{SYS_lsetxattr}, long{SYS_fsetxattr},
        long{SYS_removexattr}, long{SYS_lremovexattr}, long{SYS_fremovexattr}}) {
    filter.refuse(call);
  }
#ifdef SYS_chmod  // x86-64 has the older calls, too
  for (const long call : {long{SYS_chmod}, long{SYS_chown}, long{SYS_lchown}, long{SYS_utime},
                          long{SYS_utimes}, long{SYS_futimesat}}) {
    filter.refuse(call);
  }
#endif
  // FS_IOC_SETFLAGS, FS_IOC_SETVERSION, FS_IOC_FSSETXATTR: <linux/fs.h> defines common names.
  for (const std::uint32_t command : {0x4008'6602U, 0x4008'7602U, 0x401c'5820U}) {
    filter.refuse_where(SYS_ioctl, 1, 0xffff'ffff, command);
  }
}

/// What reaches other processes without a file: System V's and POSIX's shared memory, queues and
/// semaphores, which outlive a process; limits, priorities and processors.
void refuse_other_processes(CallFilter& filter) {
  for (const long call :
       {long{SYS_shmget}, long{SYS_shmat}, long{SYS_shmctl}, long{SYS_msgget}, long{SYS_msgsnd},
        long{SYS_msgrcv}, long{SYS_msgctl}, long{SYS_semget}, long{SYS_semop}, long{SYS_semtimedop},
        long{SYS_semctl}, long{SYS_mq_open}, long{SYS_mq_unlink}, long{SYS_setpriority},
        long{SYS_ioprio_set}, long{SYS_sched_setparam}}) {
    filter.refuse(call);
  }
  filter.refuse_for_others(SYS_prlimit64, 0);
  // Done without effect: libraries that bind threads of their own by their ids end where it fails.
  filter.refuse_for_others(SYS_sched_setaffinity, 0, 0);
}

/// Messages to other programs and news of them: sockets, also in pairs where they could send to
/// others than their partner; watches and leases of files; signals that a descriptor sends.
void refuse_messages(CallFilter& filter) {
  filter.refuse(SYS_socket);
  for (const int type : {SOCK_DGRAM, SOCK_RAW, SOCK_RDM}) {
    constexpr std::uint32_t kTypes = 0xf;  // without SOCK_CLOEXEC and SOCK_NONBLOCK
    filter.refuse_where(SYS_socketpair, 1, kTypes, static_cast<std::uint32_t>(type));
  }
  filter.refuse_where(SYS_socketpair, 0, 0xffff'ffff, AF_TIPC);
  filter.refuse(SYS_inotify_init1);
#ifdef SYS_inotify_init
  filter.refuse(SYS_inotify_init);
#endif
  for (const int command : {F_SETLEASE, F_NOTIFY, F_SETOWN, F_SETOWN_EX, F_SETSIG}) {
    filter.refuse_where(SYS_fcntl, 1, 0xffff'ffff, static_cast<std::uint32_t>(command));
  }
  for (const std::uint32_t command : {std::uint32_t{FIOSETOWN}, std::uint32_t{SIOCSPGRP}}) {
    filter.refuse_where(SYS_ioctl, 1, 0xffff'ffff, command);
  }
}

/// Refuses sockets, by which other programs of this and of other machines could be asked to do what
/// is refused here; io_uring, which makes them without the system call; typing at a terminal; and
/// what only root may, or what asks for more of the processor than others get.
void refuse_calls() {
  CallFilter filter;
  filter.refuse(kIoUringSetup, ENOSYS);
  for (const long call : {long{SYS_reboot}, long{SYS_kexec_load}, long{SYS_init_module},
                          long{SYS_finit_module}, long{SYS_delete_module}, long{SYS_clock_settime},
                          long{SYS_settimeofday}, long{SYS_sethostname}, long{SYS_setdomainname},
                          long{SYS_swapon}, long{SYS_swapoff}, long{SYS_bpf}, long{SYS_keyctl},
                          long{SYS_add_key}, long{SYS_request_key}, long{SYS_unshare},
                          long{SYS_setns}, long{SYS_sched_setscheduler}, long{SYS_sched_setattr}}) {
    filter.refuse(call);
  }
  refuse_attributes(filter);
  refuse_other_processes(filter);
  refuse_messages(filter);
  for (const std::uint32_t command : {std::uint32_t{TIOCSTI}, std::uint32_t{TIOCLINUX}}) {
    filter.refuse_where(SYS_ioctl, 1, 0xffff'ffff, command);
  }
  filter.apply();
}

void limit_own(__rlimit_resource resource, rlim_t value) {
  const rlimit limits{.rlim_cur = value, .rlim_max = value};
  static_cast<void>(::setrlimit(resource, &limits));
}

/// Those of root, with which it would read the memory of programs that are not confined.
void drop_capabilities() {
  __user_cap_header_struct header{.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
  const std::array<__user_cap_data_struct, _LINUX_CAPABILITY_U32S_3> none{};
  static_cast<void>(::syscall(SYS_capset, &header, none.data()));
}

}  // namespace

std::string SandboxSupport::text() const {
  const std::string files = landlock > 0 ? fmt::format("Landlock {}", landlock) : "no Landlock";
  return fmt::format("{}, {}", files, seccomp ? "seccomp" : "no seccomp");
}

std::string SandboxSupport::lack() const {
  if (landlock == 0 && !seccomp) {
    return "this system has neither Landlock nor seccomp: compilers and kernels are not confined";
  }
  if (landlock == 0) {
    return "this system has no Landlock: compilers and kernels may write every file that you may";
  }
  if (!seccomp) {
    return "this system has no seccomp: compilers and kernels may open sockets, kernels of the cpu "
           "backend start processes";
  }
  return {};
}

SandboxSupport sandbox_support() {
  // Without a filter the call fails with EFAULT where filters are known, else with EINVAL.
  const bool refused = ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, nullptr) != 0;
  return {.landlock = landlock::version(), .seccomp = refused && errno == EFAULT};
}

void confine_process(const Confinement& confinement) {
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return;  // both need it
  landlock::confine(confinement);
  if (confinement.outside == OutsideAccess::kept) return;
  drop_capabilities();
  refuse_calls();
}

void refuse_processes() {
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return;
  CallFilter filter;
  filter.refuse_where(SYS_clone, 0, CLONE_THREAD, 0, EAGAIN);
  filter.refuse_where(SYS_prctl, 0, 0xffff'ffff, PR_SET_PDEATHSIG);  // to outlive its parent
  filter.refuse(SYS_clone3, ENOSYS);  // its flags cannot be seen: the C library uses clone then
#ifdef SYS_fork                       // x86-64 has the older calls, too
  for (const long call : {long{SYS_fork}, long{SYS_vfork}}) filter.refuse(call, EAGAIN);
#endif
  for (const long call : {long{SYS_execve}, long{SYS_execveat}}) filter.refuse(call, EAGAIN);
  // RLIMIT_DATA counts neither memory that is shared nor stacks: none is made, none stretched.
  filter.refuse_where(SYS_mmap, 3, MAP_TYPE | MAP_ANONYMOUS, MAP_SHARED | MAP_ANONYMOUS, ENOMEM);
  filter.refuse_where(SYS_mmap, 3, MAP_GROWSDOWN, MAP_GROWSDOWN, ENOMEM);
  for (const long call :
       {long{SYS_memfd_create}, kMemfdSecret, long{SYS_shmget}, long{SYS_mremap}}) {
    filter.refuse(call, ENOMEM);
  }
  filter.apply(SECCOMP_FILTER_FLAG_TSYNC);
}

void limit_memory(std::uint64_t more_bytes) {
  std::uint64_t used_kib = 0;
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    if (word == "VmData:") status >> used_kib;
  }
  limit_own(RLIMIT_DATA, used_kib * 1024 + more_bytes);
  // RLIMIT_DATA does not count the stack of the first thread.
  constexpr rlim_t kStack = rlim_t{64} << 20;
  rlimit stack{};
  if (::getrlimit(RLIMIT_STACK, &stack) == 0)
    limit_own(RLIMIT_STACK, std::min(stack.rlim_cur, kStack));
}

}  // namespace tuner
