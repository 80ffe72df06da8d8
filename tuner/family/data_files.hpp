// SPDX-License-Identifier: Apache-2.0
// The files of numbers that a space file names.
#pragma once

#include "tuner/family/family.hpp"

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace tuner::family {

/// The file that the key `npy` of a space file names. Throws Error(usage) where it is absolute, or
/// lies outside of the space file's folder, links followed, without the suffix .npy: what it holds
/// could be a secret. It need not be there.
[[nodiscard]] std::filesystem::path npy_file(const std::filesystem::path& space_file,
                                             std::string_view name);

/// All of a family. Throws as npy_file does.
[[nodiscard]] std::vector<std::filesystem::path> npy_files(const Family& family);

/// The folder of a family's ResultsReference; empty without one.
[[nodiscard]] std::filesystem::path results_folder(const Family& family);
/// The identity that such a folder states in its file "manifest.json": it changes whenever a result
/// does. Empty where there is no such file. Throws Error(usage) where the file is none.
[[nodiscard]] std::string results_identity(const std::filesystem::path& folder);

}  // namespace tuner::family
