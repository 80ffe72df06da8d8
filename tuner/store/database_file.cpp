// SPDX-License-Identifier: Apache-2.0
#include "tuner/store/database_file.hpp"

#include "tuner/core/error.hpp"
#include "tuner/core/failpoint.hpp"
#include "tuner/core/trust.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <string>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace tuner::store {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail_to_create(const fs::path& path, const std::string& why) {
  throw Error(
      ErrorCode::failure,
      fmt::format(
          "{}: the database cannot be created: {}: name a path that can be written with --db",
          path.string(), why));
}

/// Makes the directory and those above it that are missing, for the user alone.
void make_directory(const fs::path& path, const fs::path& directory) {
  std::error_code error;
  if (directory.empty() || fs::is_directory(directory, error)) return;
  make_directory(path, directory.parent_path());
  if (::mkdir(directory.c_str(), S_IRWXU) != 0 && errno != EEXIST) {
    fail_to_create(path, fmt::format("{}: {}", directory.string(), std::strerror(errno)));
  }
}

[[noreturn]] void refuse(const fs::path& path, const std::string& why, const std::string& remedy) {
  throw Error(ErrorCode::usage,
              fmt::format("{}: {}: {}, or pass --trust-db", path.string(), why, remedy));
}

void require_local(const fs::path& path, const fs::path& directory) {
  struct statfs status {};
  if (::statfs(directory.c_str(), &status) != 0) return;  // opening it says why
  if (const auto name = network_file_system(static_cast<std::uint32_t>(status.f_type))) {
    refuse(path,
           fmt::format("is on a network file system ({}), where locks are not reliable", *name),
           "name a local file with --db or TUNER_DB");
  }
}

fs::path directory_of(const fs::path& path) {
  return path.has_parent_path() ? path.parent_path() : fs::path(".");
}

/// Refuses a file that another user can change, who could plant wrong results, or a journal that
/// SQLite would play back.
void require_trustworthy(const fs::path& path) {
  std::error_code ignored;
  fs::path directory = directory_of(fs::weakly_canonical(path, ignored));
  while (!fs::exists(directory, ignored) && directory.has_relative_path()) {
    directory = directory_of(directory);
  }
  require_local(path, directory);
  if (const auto found = distrust(path)) refuse(path, found->why, found->remedy);
}

using Identity = std::pair<std::uint64_t, std::uint64_t>;

/// Of a file that is trustworthy by itself.
Identity trusted_identity(const fs::path& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) {
    refuse(path, fmt::format("cannot be opened: {}", std::strerror(errno)),
           "name another file with --db");
  }
  if (const auto found = distrust(status, "the file")) refuse(path, found->why, found->remedy);
  return {status.st_dev, status.st_ino};
}

/// Whether one of the process's descriptors is of the file. To ask the file itself would close one
/// of its descriptors, and so drop the locks on it.
bool is_open(const Identity& file) {
  std::error_code unknown;
  const fs::directory_iterator descriptors("/proc/self/fd", unknown);
  if (unknown) return true;
  return std::any_of(begin(descriptors), end(descriptors), [&](const fs::directory_entry& each) {
    struct stat status {};
    return ::stat(each.path().c_str(), &status) == 0 &&
           Identity(status.st_dev, status.st_ino) == file;
  });
}

[[noreturn]] void refuse_journal(const fs::path& path, const fs::path& beside,
                                 std::string_view why) {
  throw Error(ErrorCode::usage,
              fmt::format("{}: {} {}: the database is not opened; if you trust it, copy it to "
                          "another folder without that file",
                          path.string(), beside.string(), why));
}

/// Whether a rollback journal ends as those of a transaction over several databases: with the name
/// of a super-journal, its length, its checksum and this number (sqlite.org/fileformat.html,
/// section 3).
bool ends_with_super_journal(const fs::path& journal) {
  constexpr std::string_view kMagic = "\xd9\xd5\x05\xf9\x20\xa1\x63\xd7";
  std::ifstream file(journal, std::ios::binary);
  std::array<char, kMagic.size()> end{};
  file.seekg(-static_cast<std::streamoff>(end.size()), std::ios::end);
  return file.read(end.data(), end.size()) && std::string_view(end.data(), end.size()) == kMagic;
}

}  // namespace

std::string sqlite_name(const fs::path& path) {
  const std::string name = path.string();
  return name.starts_with("file:") ? "./" + name : name;
}

void create_file(const fs::path& path) {
  make_directory(path, path.parent_path());
  const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR);
  if (file >= 0) {
    ::close(file);
    failpoint("store.file_created");
  } else if (errno != EEXIST) {
    fail_to_create(path, std::strerror(errno));
  }
}

void require_own_journal(const fs::path& path) {
  std::error_code ignored;
  const fs::path database = fs::weakly_canonical(path, ignored);  // beside it SQLite looks
  for (const char* ending : {"-journal", "-wal", "-shm"}) {
    fs::path beside = database;
    beside += ending;
    const fs::file_status status = fs::symlink_status(beside, ignored);
    if (fs::exists(status) && !fs::is_regular_file(status)) {
      refuse_journal(path, beside, "is not a regular file");
    }
    if (ends_with_super_journal(beside)) {
      refuse_journal(path, beside, "names a second journal, which SQLite would delete");
    }
  }
}

void require_opened(const PreparedFile& file) {
  if (!file.trusted || is_open(*file.trusted)) return;
  refuse(file.path, "is not the file that was there a moment ago",
         "check who may rename the directories above it");
}

PreparedFile prepare_file(const fs::path& path, Store::Mode mode, Store::Trust trust) {
  if (path == kInMemory) return {.path = path, .trusted = std::nullopt};
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) {
    throw Error(ErrorCode::usage,
                fmt::format("{}: is a directory: name a database file with --db", path.string()));
  }
  if (fs::exists(path, ignored) && !fs::is_regular_file(path, ignored)) {
    throw Error(
        ErrorCode::usage,
        fmt::format("{}: is a pipe or a device: name a database file with --db", path.string()));
  }
  if (mode == Store::Mode::read_only && !fs::exists(path, ignored)) {
    throw Error(
        ErrorCode::nothing_found,
        fmt::format("no database at {}: run `tune` first, or name another one", path.string()));
  }
  require_own_journal(path);
  if (trust == Store::Trust::own_files) require_trustworthy(path);
  if (mode == Store::Mode::read_write) create_file(path);
  if (trust != Store::Trust::own_files) return {.path = path, .trusted = std::nullopt};
  return {.path = path, .trusted = trusted_identity(path)};
}

std::optional<std::string_view> network_file_system(std::uint32_t magic) {
  constexpr std::array<std::pair<std::uint32_t, std::string_view>, 7> kKnown = {
      {{0x6969, "NFS"},
       {0x517b, "SMB"},
       {0xfe534d42, "SMB"},
       {0xff534d42, "CIFS"},
       {0x00c36400, "CEPH"},
       {0x0bd00bd0, "Lustre"},
       {0x5346414f, "AFS"}}};  // the numbers of linux/magic.h and of the file systems' own sources
  for (const auto& [number, name] : kKnown) {
    if (number == magic) return name;
  }
  return std::nullopt;
}

}  // namespace tuner::store
