// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/family/family.hpp"

#include <vector>

namespace tuner {

/// The header that the host's compiler includes before every kernel, and those that it needs.
[[nodiscard]] const std::vector<Header>& kernel_prelude();

/// Headers for kernels that include what nvcc has: those of the CUDA toolkit that the cpu backend
/// has a version of, and of the C and C++ library those that clash with the prelude.
[[nodiscard]] const std::vector<Header>& kernel_headers();

}  // namespace tuner
