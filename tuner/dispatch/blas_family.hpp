// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/dispatch/family_table.hpp"

namespace tuner::dispatch {

/// Whether a family is "gemm" with the dimensions and the arguments that the typed door passes,
/// which are matrices of float.
[[nodiscard]] bool is_blas_gemm(const FamilyTable& family);

}  // namespace tuner::dispatch
