// SPDX-License-Identifier: Apache-2.0
// Which files are trusted: databases, dispatch tables and caches are programs, so files that
// another user can change are refused. The one place that decides.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <sys/stat.h>

namespace tuner {

/// Why something is not trusted, and how to fix it: clauses of one sentence, without the path.
struct Distrust {
  std::string why;
  std::string remedy;
};

/// Of an open file or directory, called `what` ("the file tune.db"). None when it belongs to the
/// effective user or to root and no other user may write to it; the group may where it is the
/// user's own and has no other members.
[[nodiscard]] std::optional<Distrust> distrust(const struct stat& status, const std::string& what);

/// Of a path: its file, where there is one, the directory in which it is or is to be made, and the
/// links among its components.
[[nodiscard]] std::optional<Distrust> distrust(const std::filesystem::path& path);

/// Whether a path ends as files of C++ and CUDA do. A file from elsewhere may name such a one
/// outside of its own folder; of others, which only happen to be readable, a compiler's messages
/// and a database would keep lines.
[[nodiscard]] bool names_code(const std::filesystem::path& path);

}  // namespace tuner
