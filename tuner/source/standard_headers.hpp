// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>

namespace tuner::source {

/// Headers of the C and C++ libraries and of CUDA's host libraries that only a host program needs.
/// Kernels are compiled with nothing in their place (device_code.hpp).
[[nodiscard]] std::span<const std::string_view> host_only_headers();

/// Whether a header of this name is the platform's (the C or C++ library, the CUDA toolkit, a
/// framework of the host, or one of host_only_headers), also where a source writes it between
/// quotes.
[[nodiscard]] bool is_standard_header(std::string_view name);
/// Whether a standard header is the CUDA toolkit's and declares something for devices.
[[nodiscard]] bool is_toolkit_header(std::string_view name);

/// A header, for every kernel: INFINITY, NAN, M_PI and the other constants of <math.h>, the macros
/// of <float.h>, <limits.h> and <stdint.h>. Built from the compiler's own, so that it includes
/// nothing.
[[nodiscard]] std::string_view number_constants();

}  // namespace tuner::source
