// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/core/element_type.hpp"

#include <optional>
#include <string_view>

namespace tuner::source {

/// A vector type of CUDA's headers: a float4 is 4 floats at an address that is a multiple of 16.
struct VectorType {
  ElementType element = ElementType::f32;
  int width = 1;
  int align_bytes = 1;
};

/// Of a name such as "float4", "uchar2" or "__half2"; none for others.
[[nodiscard]] std::optional<VectorType> vector_type(std::string_view name);

}  // namespace tuner::source
