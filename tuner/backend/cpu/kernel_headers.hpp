// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/family/family.hpp"
#include "tuner/source/source.hpp"

#include <string_view>
#include <vector>

namespace tuner::backend {

/// One of kernel_headers(), which is included before a source that names something of the namespace
/// std: nvcc includes parts of the C++ library before every source.
inline constexpr std::string_view kKernelStd = "tuner_std.h";

/// One of kernel_prelude(), which is included before a kernel whose threads are to interleave.
inline constexpr std::string_view kInterleaving = "interleaving_on_cpu.hpp";

/// The header that the host's compiler includes before every kernel, and those that it needs.
[[nodiscard]] const std::vector<source::Header>& kernel_prelude();

/// Headers for kernels that include what nvcc has: those of the CUDA toolkit that the cpu backend
/// has a version of, and of the C and C++ library those that clash with the prelude.
[[nodiscard]] const std::vector<source::Header>& kernel_headers();

}  // namespace tuner::backend
