// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/family/family.hpp"

#include <filesystem>
#include <string_view>
#include <vector>

namespace tuner::family {

/// Reads a kernel's source and, recursively, every header that it includes as "name", looked up
/// beside the including file, then from the source's folder, "common/NAME.cuh" then from the folder
/// above, where kernels of several families keep what they share; one that is not there and of the
/// platform is left to the compiler (is_standard_header). In the texts every header is included by
/// its path from the source's folder, which is its name. Throws Error(usage) naming file and line
/// when another header is missing, is absolute or leaves the folder with ".." or by a link, and
/// when a file is larger than 1 MiB or there are more than 64 headers, and for every other way to
/// include that include.hpp refuses.
[[nodiscard]] KernelSource read_kernel_source(const std::filesystem::path& path);

/// The file that the key `npy` of a space file names. Throws Error(usage) where it is absolute, or
/// lies outside of the space file's folder, links followed, without the suffix .npy: what it holds
/// could be a secret. It need not be there.
[[nodiscard]] std::filesystem::path npy_file(const std::filesystem::path& space_file,
                                             std::string_view name);

/// All of a family. Throws as npy_file does.
[[nodiscard]] std::vector<std::filesystem::path> npy_files(const Family& family);

}  // namespace tuner::family
