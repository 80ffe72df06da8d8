// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/family/element_type.hpp"
#include "tuner/family/geam_shape.hpp"
#include "tuner/family/gemm_shape.hpp"

#include <variant>

namespace tuner::family {

/// A product or a sum of matrices.
using LibraryShape = std::variant<GemmShape, GeamShape>;

/// An operation of the platform's BLAS in full precision, as tuning times it and applications
/// launch it. A batch is one call where the library has one for batches.
struct LibraryOperation {
  ElementType type = ElementType::f32;  ///< of all matrices: f32 or f64
  LibraryShape shape = {};              ///< as check_shape allows
};

}  // namespace tuner::family
