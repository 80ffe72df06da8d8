// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/family/family.hpp"

#include <string_view>
#include <vector>

namespace tuner {

/// The header that is included before every kernel: constants, the types of <cstdint>, and what of
/// nvcc's mathematical functions NVRTC lacks.
inline constexpr std::string_view kNvrtcPrelude = "tuner/prelude.h";

/// The prelude, and headers in place of the C and C++ library's, which NVRTC has none of and those
/// of the host do not suit: with what kernels use of them, or with nothing.
[[nodiscard]] const std::vector<Header>& nvrtc_headers();

}  // namespace tuner
