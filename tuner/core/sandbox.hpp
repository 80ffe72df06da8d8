// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace tuner {

/// What the kernel of the operating system offers to confine a process.
struct SandboxSupport {
  int landlock = 0;      ///< version of Landlock's interface; 0: none
  bool seccomp = false;  ///< system calls can be refused by their arguments

  /// "Landlock 7, seccomp", "seccomp, no Landlock".
  [[nodiscard]] std::string text() const;
};
[[nodiscard]] SandboxSupport sandbox_support();

/// Whether a confined process may reach other programs, of this and of other machines.
enum class OutsideAccess { kept, refused };

/// Confines the calling thread, and all threads and processes that it starts from now on, for good:
///   - files are created, changed, renamed and removed only in `writable`, folders that exist, and
///     below them; device files are written only where they hold nothing (/dev/null) or are GPUs';
///   - from Landlock 6 on, signals reach only what is confined with it;
///   - without outside access no socket can be made but a pair of connected ones, no file's
///     permissions, owner or extended attributes changed, and nothing typed at a terminal.
/// Reading is not confined. What the operating system lacks is left out; see sandbox_support().
/// No program that is started gains rights by its file's set-user-ID bit or capabilities.
/// Threads that run already are not confined: call it before others start.
void confine_process(const std::vector<std::filesystem::path>& writable, OutsideAccess outside);

}  // namespace tuner
