// SPDX-License-Identifier: Apache-2.0
// Internal to store: the file of a database before SQLite opens it.
#pragma once

#include "tuner/store/store.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string_view>

namespace tuner::store {

/// The path of a database in memory.
inline constexpr const char* kInMemory = ":memory:";

/// Makes an empty file, for the user alone, and the directories it lacks, likewise. One that is
/// there is left alone, not even opened: closing it would drop the locks that another connection of
/// this process holds on it. Throws Error(failure).
void create_file(const std::filesystem::path& path);

/// Throws Error(usage) where SQLite would find beside the database what only a stranger puts there:
/// a pipe, on which it would wait for ever, or a rollback journal that names a second one, which it
/// would delete, whatever file that is.
void require_own_journal(const std::filesystem::path& path);

/// Makes sure that the file is there, in read_write mode by creating it, and that it may be
/// trusted. Returns the path to open. Throws as Store's constructor.
[[nodiscard]] std::filesystem::path prepare_file(const std::filesystem::path& path,
                                                 Store::Mode mode, Store::Trust trust);

/// The name of a network file system, whose locks cannot be relied on, by the magic number of
/// statfs(2). None for any other.
[[nodiscard]] std::optional<std::string_view> network_file_system(std::uint32_t magic);

}  // namespace tuner::store
