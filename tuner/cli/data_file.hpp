// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace tuner::cli {

/// A file or folder of the project's data, such as "spaces/gemm.json": where it is installed, or in
/// the source tree above the build's. None where there is no such file, or one that others may
/// change.
[[nodiscard]] std::optional<std::filesystem::path> data_file(const std::filesystem::path& name);

/// A space file as the user names it: where there is none, the installed one of this name if it is
/// below "spaces" or "examples".
[[nodiscard]] std::string given_or_installed(const std::string& name);

}  // namespace tuner::cli
