// SPDX-License-Identifier: Apache-2.0
#include "tuner/core/links.hpp"

#include <cerrno>
#include <deque>
#include <fcntl.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <system_error>
#include <unistd.h>

namespace tuner {
namespace {

namespace fs = std::filesystem;

constexpr int kMostLinks = 40;  // as many as the system follows

bool is_link(const fs::path& path, struct stat& status) {
  return ::lstat(path.c_str(), &status) == 0 && S_ISLNK(status.st_mode);
}

bool is_in_proc(const fs::path& folder) {
  struct statfs system {};
  return ::statfs(folder.empty() ? "." : folder.c_str(), &system) == 0 &&
         system.f_type == PROC_SUPER_MAGIC;
}

/// `folder`/.., where the folder leads through no link.
fs::path above(const fs::path& folder) {
  if (folder.empty() || folder.filename() == "..") return folder / "..";
  return folder.parent_path();
}

}  // namespace

FollowedPath follow_links(const fs::path& path) {
  std::deque<fs::path> rest(path.begin(), path.end());
  fs::path at;
  int links = 0;
  while (!rest.empty()) {
    const fs::path part = rest.front();
    rest.pop_front();
    if (part == ".") continue;
    if (part == "..") {
      at = above(at);
      continue;
    }
    const fs::path next = at / part;  // an absolute part, "/", replaces what was before
    struct stat status {};
    if (part.empty() || !is_link(next, status) || ++links > kMostLinks) {
      at = next;
      continue;
    }
    if (status.st_uid != ::geteuid() && status.st_uid != 0) {
      return {.path = next, .link_of_another_user = next};
    }
    if (rest.empty() && is_in_proc(at)) return {.path = path, .is_open_file = true};
    std::error_code unreadable;
    const fs::path target = fs::read_symlink(next, unreadable);
    rest.insert(rest.begin(), target.begin(), target.end());
  }
  return {.path = at.empty() ? "." : at};
}

int open_without_links(const fs::path& path, int flags, mode_t mode) {
  open_how how{};
  how.flags = static_cast<unsigned>(flags);
  how.mode = (flags & O_CREAT) != 0 ? mode : 0;
  how.resolve = RESOLVE_NO_SYMLINKS;
  const long opened = ::syscall(SYS_openat2, AT_FDCWD, path.c_str(), &how, sizeof how);
  if (opened >= 0 || (errno != ENOSYS && errno != EPERM)) return static_cast<int>(opened);
  return ::open(path.c_str(), flags | O_NOFOLLOW, mode);
}

}  // namespace tuner
