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
    // The calls of other processor modes have other numbers.
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
    add(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(call), 0, 5);
    // The lower half comes first on these processors.
    load(offsetof(seccomp_data, args) + argument * sizeof(std::uint64_t));
    add(BPF_ALU | BPF_AND | BPF_K, mask);
    add(BPF_JMP | BPF_JEQ | BPF_K, value, 0, 1);
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
  static constexpr std::uint32_t kLastCall = 0x3fff'ffff;  // beyond: the x32 mode
#elif defined(__aarch64__)
  static constexpr std::uint32_t kArchitecture = AUDIT_ARCH_AARCH64;
  static constexpr std::uint32_t kLastCall = 0xffff'ffff;
#else
#error "the system calls of this processor are not known"
#endif

  void add(unsigned code, std::uint32_t value, std::uint8_t if_true = 0,
           std::uint8_t if_false = 0) {
    steps_.push_back({static_cast<std::uint16_t>(code), if_true, if_false, value});
  }
  void load(std::size_t offset) {
    add(BPF_LD | BPF_W | BPF_ABS, static_cast<std::uint32_t>(offset));
  }
  void answer(int error) {
    add(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | static_cast<std::uint32_t>(error));
  }

  std::vector<sock_filter> steps_;
};

/// Refuses sockets, by which other programs of this and of other machines could be asked to do what
/// is refused here; io_uring, which makes them without the system call; what Landlock leaves
/// unconfined of a file: its permissions, its owner, its attributes; typing at a terminal; and what
/// only root may, or what asks for more of the processor than others get.
void refuse_calls() {
  constexpr long kIoUringSetup = 425;  // on all processors, as the next
  constexpr long kFchmodat2 = 452;
  CallFilter filter;
  filter.refuse(kIoUringSetup, ENOSYS);
  for (const long call :
       {long{SYS_socket}, kFchmodat2, long{SYS_fchmod}, long{SYS_fchmodat}, long{SYS_fchown},
        long{SYS_fchownat}, long{SYS_setxattr}, long{SYS_lsetxattr}, long{SYS_fsetxattr},
        long{SYS_removexattr}, long{SYS_lremovexattr}, long{SYS_fremovexattr}}) {
    filter.refuse(call);
  }
  for (const long call : {long{SYS_reboot}, long{SYS_kexec_load}, long{SYS_init_module},
                          long{SYS_finit_module}, long{SYS_delete_module}, long{SYS_clock_settime},
                          long{SYS_settimeofday}, long{SYS_sethostname}, long{SYS_setdomainname},
                          long{SYS_swapon}, long{SYS_swapoff}, long{SYS_bpf}, long{SYS_keyctl},
                          long{SYS_add_key}, long{SYS_request_key}, long{SYS_unshare},
                          long{SYS_setns}, long{SYS_sched_setscheduler}, long{SYS_sched_setattr}}) {
    filter.refuse(call);
  }
#ifdef SYS_chmod  // x86-64 has the older calls, too
  for (const long call : {long{SYS_chmod}, long{SYS_chown}, long{SYS_lchown}}) filter.refuse(call);
#endif
  for (const std::uint32_t command : {std::uint32_t{TIOCSTI}, std::uint32_t{TIOCLINUX}}) {
    filter.refuse_where(SYS_ioctl, 1, 0xffff'ffff, command);
  }
  filter.apply();
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
  // RLIMIT_DATA does not count memory that is shared.
  filter.refuse_where(SYS_mmap, 3, MAP_TYPE | MAP_ANONYMOUS, MAP_SHARED | MAP_ANONYMOUS, ENOMEM);
  for (const long call : {long{SYS_memfd_create}, long{SYS_shmget}}) filter.refuse(call, ENOMEM);
  filter.apply(SECCOMP_FILTER_FLAG_TSYNC);
}

void limit_memory(std::uint64_t more_bytes) {
  std::uint64_t used_kib = 0;
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    if (word == "VmData:") status >> used_kib;
  }
  const rlim_t most = used_kib * 1024 + more_bytes;
  const rlimit limits{.rlim_cur = most, .rlim_max = most};
  static_cast<void>(::setrlimit(RLIMIT_DATA, &limits));
}

}  // namespace tuner
