// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <system_error>

namespace tuner {

/// The whole content of a regular file, or of a pipe without a name, such as the shell's <(…).
/// Throws Error(usage) naming the path when it cannot be read, is something else, such as a
/// directory or a named pipe, which might never end, or is larger than `limit_bytes`.
[[nodiscard]] std::string read_file(const std::filesystem::path& path, std::size_t limit_bytes);
/// Reads as the other read_file; `check` is given what was opened, and may throw.
[[nodiscard]] std::string read_file(const std::filesystem::path& path, std::size_t limit_bytes,
                                    const std::function<void(const struct stat&)>& check);

/// A regular file in pieces of at most 16 MiB, in their order, until `take` returns false: for
/// files that memory need not hold. Throws as read_file.
void read_pieces(const std::filesystem::path& path,
                 const std::function<bool(std::string_view)>& take);

/// Writes a file under a temporary name in the same directory and renames it into place, so that a
/// reader sees the old content or the new, never a part; an old file's mode is kept, and links are
/// followed, but none of another user (links.hpp). Writes into what is not a regular file, such as
/// /dev/stdout or a pipe; a named one that no program opens to read within a second is refused.
/// Creates missing parent directories. Throws Error(failure) naming the path; an old file is then
/// untouched.
void write_file(const std::filesystem::path& path, std::string_view content);

/// Whether a file, links followed, lies in a folder or below it; "" is the working directory. False
/// where either is not there.
[[nodiscard]] bool lies_below(const std::filesystem::path& file,
                              const std::filesystem::path& folder);

/// 16 unpredictable hexadecimal digits for names of temporary files: another user could create a
/// predictable name, or a link of that name, first.
[[nodiscard]] std::string random_word();

/// Makes a directory and those above it that are missing, each for the user alone (mode 0700).
/// One that is there is left as it is. The error when there is none afterwards.
[[nodiscard]] std::error_code make_private_directories(const std::filesystem::path& path);

/// Opens what is there or a new file to append to it; no child inherits it. Refuses a named pipe as
/// write_file does, and a link of another user. Throws Error(failure) naming the path.
[[nodiscard]] std::FILE* open_to_append(const std::filesystem::path& path);

/// A directory of its own in $TMPDIR, else /tmp (mode 0700), removed with its content when the
/// owner goes. Throws Error(failure) when it cannot be made.
class TemporaryDirectory {
 public:
  TemporaryDirectory();
  ~TemporaryDirectory();
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  /// Whether it is left where it is when the owner is destroyed.
  void keep(bool kept) { kept_ = kept; }

 private:
  std::filesystem::path path_;
  bool kept_ = false;
};

}  // namespace tuner
