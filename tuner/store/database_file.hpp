// SPDX-License-Identifier: Apache-2.0
// Internal to store: the file of a database before SQLite opens it.
#pragma once

#include "tuner/store/store.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace tuner::store {

/// The path of a database in memory.
inline constexpr const char* kInMemory = ":memory:";

/// What names a file to SQLite, which takes a name that begins with "file:" for a URI, whose
/// options could open something else.
[[nodiscard]] std::string sqlite_name(const std::filesystem::path& path);

/// Makes an empty file, for the user alone, and the directories it lacks, likewise. One that is
/// there is left alone, not even opened: closing it would drop the locks that another connection of
/// this process holds on it. Throws Error(failure).
void create_file(const std::filesystem::path& path);

/// Throws Error(usage) where SQLite would find beside the database what only a stranger puts there:
/// a pipe, on which it would wait for ever, or a rollback journal that names a second one, which it
/// would delete, whatever file that is.
void require_own_journal(const std::filesystem::path& path);

/// A database's file before SQLite opens it.
struct PreparedFile {
  std::filesystem::path path;
  /// The device and the number of the file that was found trustworthy; none where none had to be.
  std::optional<std::pair<std::uint64_t, std::uint64_t>> trusted;
};

/// Makes sure that the file is there, in read_write mode by creating it, and that it may be
/// trusted. Throws as Store's constructor.
[[nodiscard]] PreparedFile prepare_file(const std::filesystem::path& path, Store::Mode mode,
                                        Store::Trust trust);

/// Throws Error(usage) unless this process has opened the file that was found trustworthy: who may
/// rename a directory above it can put another in its place meanwhile. Where the system does not
/// tell what is open, nothing is required.
void require_opened(const PreparedFile& file);

/// The name of a network file system, whose locks cannot be relied on, by the magic number of
/// statfs(2). None for any other.
[[nodiscard]] std::optional<std::string_view> network_file_system(std::uint32_t magic);

}  // namespace tuner::store
