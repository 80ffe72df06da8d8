// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>

namespace tuner::cli {

/// A file or folder of the project's data, such as "spaces/gemm.json": where it is installed, or in
/// the source tree above the build's. None where there is no such file, or one that others may
/// change.
[[nodiscard]] std::optional<std::filesystem::path> data_file(const std::filesystem::path& name);

}  // namespace tuner::cli
