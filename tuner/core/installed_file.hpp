// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>

namespace tuner {

/// A file that was installed with the program or library that this code is a part of, by its path
/// under their common prefix, such as "share/tuner/tables/x.json". The search does not depend on
/// the environment. None where there is no such file, or one that others may change.
[[nodiscard]] std::optional<std::filesystem::path> installed_file(
    const std::filesystem::path& under_prefix);

}  // namespace tuner
