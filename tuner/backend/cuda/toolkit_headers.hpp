// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <span>
#include <vector>

namespace tuner::backend {

/// The folders that a compiler searches for the headers of the CUDA toolkit: the first of
/// `candidates` whose cuda.h is of version `cuda_version` (13000 for 13.0), and the folder cccl in
/// it where there is one. Empty when there is none, or when it is the system's own /usr/include,
/// in which there is more than the toolkit.
[[nodiscard]] std::vector<std::filesystem::path> toolkit_header_folders(
    std::span<const std::filesystem::path> candidates, int cuda_version);

/// Where a toolkit's headers may lie: beside its library, in $CUDA_HOME, $CUDA_PATH and
/// /usr/local/cuda.
[[nodiscard]] std::vector<std::filesystem::path> toolkit_header_candidates(
    const std::filesystem::path& library);

}  // namespace tuner::backend
