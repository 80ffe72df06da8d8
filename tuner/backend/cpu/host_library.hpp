// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/backend/matrix_operands.hpp"

namespace tuner::backend {

/// An operation of the host's library, done on return: a product by OpenBLAS, a sum of matrices by
/// loops of our own, since CBLAS has none. launch_error for a type that is neither f32 nor f64;
/// throws Error(failure) for a size that OpenBLAS cannot take, and what check_shape throws.
[[nodiscard]] Expected<void, Failure> run_host_library(const family::LibraryOperation& operation,
                                                       const MatrixOperands& operands);

}  // namespace tuner::backend
