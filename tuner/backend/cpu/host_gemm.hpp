// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/backend/matrix_operands.hpp"

namespace tuner::backend {

/// A product by OpenBLAS, done on return. launch_error for a type that it has no GEMM for; throws
/// Error(failure) for a size that it cannot take, and what check_shape throws.
[[nodiscard]] Expected<void, Failure> host_gemm(const family::LibraryOperation& operation,
                                                const family::GemmShape& shape,
                                                const MatrixOperands& operands);
/// The same by plain loops, which need no preparation: for small matrices they are faster.
[[nodiscard]] Expected<void, Failure> host_gemm_by_loops(const family::LibraryOperation& operation,
                                                         const family::GemmShape& shape,
                                                         const MatrixOperands& operands);

}  // namespace tuner::backend
