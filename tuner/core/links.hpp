// SPDX-License-Identifier: Apache-2.0
// Symbolic links among the components of a path. One that another user made may lead a write to any
// file of the caller, so none is followed: neither in the last component nor in a directory.
#pragma once

#include <filesystem>
#include <optional>
#include <sys/types.h>

namespace tuner {

struct FollowedPath {
  /// Leads through no link; need not be there. Where `is_open_file`, the path as it was given.
  std::filesystem::path path;
  /// The first link that belongs neither to the effective user nor to root; `path` ends at it.
  std::optional<std::filesystem::path> link_of_another_user = {};
  bool is_open_file = false;  ///< ends at a link of /proc to what a process has open, /dev/stdout
};

/// Follows all links of a path.
[[nodiscard]] FollowedPath follow_links(const std::filesystem::path& path);

/// open(2), which fails with ELOOP where any component is a link (a kernel before Linux 5.6: only
/// the last one). For a followed path: nobody can put a link into it meanwhile.
[[nodiscard]] int open_without_links(const std::filesystem::path& path, int flags, mode_t mode);

}  // namespace tuner
