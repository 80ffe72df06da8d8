// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace tuner::store {

/// What a database's file is now, without opening it: two equal texts mean that nothing was
/// committed in between. None while a transaction is under way or left half-done, and for an
/// instant after a commit, in which the file's time could not tell another one from it. Throws as
/// opening a Store in read_only mode does when there is no such file or it is not to be trusted.
[[nodiscard]] std::optional<std::string> database_state(const std::filesystem::path& path);

}  // namespace tuner::store
