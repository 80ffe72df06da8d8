// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace tuner {

/// What the kernel of the operating system offers to confine a process.
struct SandboxSupport {
  int landlock = 0;      ///< version of Landlock's interface; 0: none
  bool seccomp = false;  ///< system calls can be refused by their arguments

  /// "Landlock 7, seccomp", "seccomp, no Landlock".
  [[nodiscard]] std::string text() const;
  /// What is missing, and what confined processes may do therefore; empty where nothing is.
  [[nodiscard]] std::string lack() const;
};
[[nodiscard]] SandboxSupport sandbox_support();

/// Whether a confined process may reach other programs, of this and of other machines.
enum class OutsideAccess { kept, refused };

/// What a confined process may still do.
struct Confinement {
  /// Folders that exist: files are created, changed, renamed and removed there and below.
  std::vector<std::filesystem::path> writable = {};
  /// Files and folders that are read besides those, and besides GPUs' and empty devices; none:
  /// everything is.
  std::optional<std::vector<std::filesystem::path>> readable = {};
  OutsideAccess outside = OutsideAccess::refused;
};

/// Confines the calling thread, and all threads and processes that it starts from now on, for good:
///   - files are changed and read as the confinement says; device files are written only where they
///     hold nothing (/dev/null) or are GPUs';
///   - from Landlock 6 on, signals reach only what is confined with it;
///   - without outside access no socket can be made but a pair of connected ones, no shared memory,
///     queue or semaphore of System V or POSIX, no file's permissions, owner, times or attributes
///     changed, no limit or priority of another process, and nothing typed at a terminal; root has
///     no capabilities and does not administer the machine (clock, modules, keys, namespaces);
///     system calls later than Linux 6.10 fail with ENOSYS.
/// What the operating system lacks is left out; see sandbox_support().
/// No program that is started gains rights by its file's set-user-ID bit or capabilities.
/// Threads that run already are not confined: call it before others start.
void confine_process(const Confinement& confinement);

/// From now on no thread of this process starts a process or another program, nor takes memory that
/// limit_memory() does not count; starting one fails with EAGAIN, as at a limit of processes.
void refuse_processes();

/// Limits the memory that this process can write to so many bytes more than it has; to take more
/// fails with ENOMEM. Mappings that cannot be written cost nothing.
void limit_memory(std::uint64_t more_bytes);

}  // namespace tuner
