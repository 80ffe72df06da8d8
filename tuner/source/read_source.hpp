// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/source/source.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace tuner::source {

/// Folders beside a kernel's own in which its headers may lie.
struct IncludeRoots {
  std::filesystem::path space_folder;  ///< the space file's: outside of it only code is read
  std::vector<std::filesystem::path> folders;
};

/// The folders that the key `include` of a space file names, relative to it. Throws Error(usage)
/// where one is absolute or no folder, or lies outside of the space file's folder, links followed,
/// and the space file is another user's, or others may write to it.
[[nodiscard]] IncludeRoots include_roots(const std::filesystem::path& space_file,
                                         const std::vector<std::string>& folders);

/// Reads a kernel's source and, recursively, every header that it includes as "name", looked up
/// beside the including file, in the source's folder, and in the roots; or as <name>, looked up in
/// the roots and in the source's folder where the platform has none of this name
/// (is_standard_header); "common/NAME.cuh" also in the folder above the source's, where kernels of
/// several families keep what they share. A header that is not there is left to the compiler where
/// the platform has one, where it is included as <name>, and in a branch of #if, which may be dead.
/// In the texts every header is included by its name, which is its path from the source's folder
/// or from its root. Throws Error(usage) naming file and line when another header is missing, lies
/// outside of these folders, also by a link, or outside of the space file's folder without the
/// suffix of code, when a file is larger than 1 MiB or there are more than 256 headers, and for
/// every other way to include that include.hpp refuses; in a branch of #if the directive becomes an
/// #error instead.
[[nodiscard]] KernelSource read_kernel_source(const std::filesystem::path& path,
                                              const IncludeRoots& roots = {});

}  // namespace tuner::source
