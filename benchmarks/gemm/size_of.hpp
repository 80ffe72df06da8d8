// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "benchmarks/gemm/shape.hpp"
#include "tuner/family/family.hpp"

#include <optional>

namespace tuner::gemm_benchmark {

/// The shape as a size of the family. Dimensions that a shape does not have, such as the element
/// type, get their defaults. None when the shape needs a dimension that the family lacks.
[[nodiscard]] std::optional<space::Size> size_of(const Shape& shape,
                                                 const family::Problem& problem);

}  // namespace tuner::gemm_benchmark
