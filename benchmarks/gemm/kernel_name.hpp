// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace tuner::gemm_benchmark {

/// A kernel's name for people from the symbol in its image: demangled, and of
/// "void cutlass::Kernel2<cutlass_80_simt_sgemm_256x128_8x4_nn_align1>(…)" what tells it apart.
[[nodiscard]] std::string short_kernel_name(const std::string& symbol);

}  // namespace tuner::gemm_benchmark
