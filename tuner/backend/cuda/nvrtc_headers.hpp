// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/family/family.hpp"

#include <string_view>
#include <vector>

namespace tuner::backend {

/// The header that is included before every kernel: constants, the types of <cstdint>, and what of
/// nvcc's mathematical functions NVRTC lacks.
inline constexpr std::string_view kNvrtcPrelude = "tuner/prelude.h";

/// The header that is included as well before a source that names something of the namespace std:
/// nvcc includes parts of the C++ library before every source.
inline constexpr std::string_view kNvrtcStd = "tuner/std.h";
/// The same for one that uses no more of it than functions.
inline constexpr std::string_view kNvrtcStdFunctions = "tuner/std_functions.h";

/// The prelude, and headers in place of the C and C++ library's, which NVRTC has none of and those
/// of the host do not suit: with what kernels use of them, or with nothing.
[[nodiscard]] const std::vector<family::Header>& nvrtc_headers();

}  // namespace tuner::backend
