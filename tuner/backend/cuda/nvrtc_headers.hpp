// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/family/family.hpp"
#include "tuner/source/source.hpp"

#include <filesystem>
#include <span>
#include <string_view>
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

/// The header that is included before every kernel: constants, the types of <cstdint>, and what of
/// nvcc's mathematical functions NVRTC lacks.
inline constexpr std::string_view kNvrtcPrelude = "tuner/prelude.h";

/// The header that is included as well before a source that names something of the namespace std:
/// nvcc includes parts of the C++ library before every source.
inline constexpr std::string_view kNvrtcStd = "tuner/std.h";
/// The header that is included instead before a source that uses only functions of std.
inline constexpr std::string_view kNvrtcStdFunctions = "tuner/std_functions.h";

/// The prelude, and headers in place of the C and C++ library's, which NVRTC has none of and those
/// of the host do not suit: with what kernels use of them, or with nothing.
[[nodiscard]] const std::vector<source::Header>& nvrtc_headers();

}  // namespace tuner::backend
