// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>

namespace tuner::cli {

/// A folder of data files, such as "spaces": where it is installed, or in the source tree above the
/// build's; none where there is no such folder.
[[nodiscard]] std::optional<std::filesystem::path> data_folder(const std::filesystem::path& name);

}  // namespace tuner::cli
