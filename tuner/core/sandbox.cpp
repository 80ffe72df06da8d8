// SPDX-License-Identifier: Apache-2.0
#include "tuner/core/sandbox.hpp"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace tuner {
namespace {

// Landlock as in Documentation/userspace-api/landlock.rst of Linux 6.12: Debian 12's header ends
// with version 2.
namespace landlock {

constexpr std::uint32_t kAskVersion = 1U << 0;
constexpr int kPathBeneath = 1;
constexpr std::uint64_t kWriteFile = 1ULL << 1;
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

void allow(int ruleset, const std::filesystem::path& folder, std::uint64_t access) {
  const int directory = ::open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (directory < 0) return;
  const PathBeneath rule{.allowed_access = access, .parent_fd = directory};
  static_cast<void>(::syscall(SYS_landlock_add_rule, ruleset, kPathBeneath, &rule, 0));
  ::close(directory);
}

void confine(const std::vector<std::filesystem::path>& writable) {
  const int known = version();
  if (known == 0) return;
  const Ruleset handled{.handled_access_fs = changes(known),
                        .scoped = known >= 6 ? kScopeSignal : 0};
  const std::size_t size = known >= 6 ? sizeof handled : sizeof handled.handled_access_fs;
  const auto ruleset = static_cast<int>(::syscall(SYS_landlock_create_ruleset, &handled, size, 0));
  if (ruleset < 0) return;
  for (const std::filesystem::path& folder : writable) {
    allow(ruleset, folder, handled.handled_access_fs);
  }
  allow(ruleset, "/dev", kWriteFile);
  static_cast<void>(::syscall(SYS_landlock_restrict_self, ruleset, 0));
  ::close(ruleset);
}

}  // namespace landlock

/// Refuses sockets other than Unix-domain ones; io_uring, too, which makes sockets without the
/// system call; and the system calls of other processor modes, which have other numbers.
void refuse_network() {
#if defined(__x86_64__)
  constexpr std::uint32_t kArchitecture = AUDIT_ARCH_X86_64;
  constexpr std::uint32_t kLastCall = 0x3fff'ffff;  // beyond: the x32 mode
#elif defined(__aarch64__)
  constexpr std::uint32_t kArchitecture = AUDIT_ARCH_AARCH64;
  constexpr std::uint32_t kLastCall = 0xffff'ffff;
#else
#error "the system calls of this processor are not known"
#endif
  constexpr std::uint32_t kIoUringSetup = 425;  // on all processors
  constexpr std::uint16_t kLoad = BPF_LD | BPF_W | BPF_ABS;
  constexpr std::uint16_t kIfEqual = BPF_JMP | BPF_JEQ | BPF_K;
  constexpr std::uint16_t kIfGreater = BPF_JMP | BPF_JGT | BPF_K;
  constexpr std::uint16_t kReturn = BPF_RET | BPF_K;
  std::array<sock_filter, 11> program{{
      {kLoad, 0, 0, offsetof(seccomp_data, arch)},
      {kIfEqual, 0, 7, kArchitecture},  // else: to ENOSYS
      {kLoad, 0, 0, offsetof(seccomp_data, nr)},
      {kIfGreater, 5, 0, kLastCall},                             // to ENOSYS
      {kIfEqual, 4, 0, kIoUringSetup},                           // to ENOSYS
      {kIfEqual, 0, 2, static_cast<std::uint32_t>(SYS_socket)},  // else: to ALLOW
      {kLoad, 0, 0, offsetof(seccomp_data, args)},
      {kIfEqual, 0, 2, AF_UNIX},  // else: to EACCES
      {kReturn, 0, 0, SECCOMP_RET_ALLOW},
      {kReturn, 0, 0, SECCOMP_RET_ERRNO | ENOSYS},
      {kReturn, 0, 0, SECCOMP_RET_ERRNO | EACCES},
  }};
  const sock_fprog filter{.len = program.size(), .filter = program.data()};
  static_cast<void>(::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter));
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

void confine_process(const std::vector<std::filesystem::path>& writable, NetworkAccess network) {
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return;  // both need it
  landlock::confine(writable);
  if (network == NetworkAccess::refused) refuse_network();
}

}  // namespace tuner
