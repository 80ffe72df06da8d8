// SPDX-License-Identifier: Apache-2.0
#include "tuner/core/trust.hpp"

#include "tuner/core/links.hpp"
#include "tuner/core/printable.hpp"
#include "tuner/core/shell_words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <grp.h>
#include <pwd.h>
#include <string_view>
#include <sys/xattr.h>
#include <unistd.h>

namespace tuner {
namespace {

namespace fs = std::filesystem;

bool is_of_another_user(const struct stat& status) {
  return status.st_uid != ::geteuid() && status.st_uid != 0;
}

/// Whether a group is the user's own: of the same name, without other members. On systems where
/// every user has one, files that it may write are common and harmless.
bool is_private_group(gid_t id) {
  const passwd* const user = ::getpwuid(::geteuid());
  const group* const found = ::getgrgid(id);
  if (user == nullptr || found == nullptr || std::strcmp(user->pw_name, found->gr_name) != 0) {
    return false;
  }
  for (char** member = found->gr_mem; *member != nullptr; ++member) {
    if (std::strcmp(*member, user->pw_name) != 0) return false;
  }
  return true;
}

std::optional<Distrust> distrust_of(const fs::path& part, std::string_view kind) {
  struct stat status {};
  if (::stat(part.c_str(), &status) != 0) return std::nullopt;  // opening it says why
  // With an access control list the group's bits are the most that any user in it has (acl(5)).
  const bool has_list = ::getxattr(part.c_str(), "system.posix_acl_access", nullptr, 0) > 0;
  if (has_list && (status.st_mode & S_IWGRP) != 0) status.st_mode |= S_IWOTH;
  auto found = distrust(status, fmt::format("the {} {}", kind, printable_name(part.string())));
  const bool is_shared = (status.st_mode & S_ISVTX) != 0;  // such as /tmp
  if (found && !is_of_another_user(status) && !is_shared) {
    found->remedy =
        fmt::format("remove that permission with `chmod go-w {}`", shell_word(part.string()));
  }
  return found;
}

fs::path directory_of(const fs::path& path) {
  return path.has_parent_path() ? path.parent_path() : fs::path(".");
}

}  // namespace

std::optional<Distrust> distrust(const struct stat& status, const std::string& what) {
  if (is_of_another_user(status)) {
    return Distrust{.why = what + " belongs to another user", .remedy = "use one of your own"};
  }
  const bool group_writes = (status.st_mode & S_IWGRP) != 0 && !is_private_group(status.st_gid);
  if (group_writes || (status.st_mode & S_IWOTH) != 0) {
    return Distrust{.why = "other users may write to " + what,
                    .remedy = "use one in a directory of your own"};
  }
  return std::nullopt;
}

std::optional<Distrust> distrust(const fs::path& path) {
  if (const auto link = follow_links(path).link_of_another_user) {
    return Distrust{.why = *link == path ? "is a link that belongs to another user"
                                         : fmt::format("{} is a link that belongs to another user",
                                                       printable_name(link->string())),
                    .remedy = "name the file itself"};
  }
  std::error_code ignored;
  const fs::path file = fs::weakly_canonical(path, ignored);
  fs::path directory = directory_of(file);
  while (!fs::exists(directory, ignored) && directory.has_relative_path()) {
    directory = directory_of(directory);
  }
  if (auto found = distrust_of(directory, "directory")) return found;
  return distrust_of(file, "file");
}

bool names_code(const fs::path& path) {
  constexpr std::array<std::string_view, 12> kEndings = {
      ".cu", ".cuh", ".c", ".cc", ".cpp", ".cxx", ".h", ".hh", ".hpp", ".hxx", ".inl", ".inc"};
  return std::ranges::find(kEndings, path.extension().string()) != kEndings.end();
}

}  // namespace tuner
