// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/backend/matrix_operands.hpp"

namespace tuner::backend {

/// A sum of matrices or a transposition, done on return: loops of our own, since CBLAS has none.
/// launch_error for a type that is neither f32 nor f64; throws what check_shape throws.
[[nodiscard]] Expected<void, Failure> host_geam(family::ElementType type,
                                                const family::GeamShape& shape,
                                                const MatrixOperands& operands);

}  // namespace tuner::backend
