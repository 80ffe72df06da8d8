// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/core/element_type.hpp"
#include "tuner/source/signature.hpp"

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace tuner::source {

/// The type of a kernel's parameter: a number of a built-in type, or a pointer to such numbers.
struct ParameterType {
  bool operator==(const ParameterType&) const = default;

  ElementType element;
  bool is_pointer = false;
  bool is_bool = false;   ///< then `element` is u8
  bool is_bytes = false;  ///< char or unsigned char: through it any memory may be read
};

using WordSet = std::set<std::string, std::less<>>;

/// The type that a parameter's tokens say; none for void*, vectors and all that is not certain.
/// `macros` are words that a preprocessor may replace, `types` words that the source may declare.
[[nodiscard]] std::optional<ParameterType> parameter_type(Tokens parameter, const WordSet& macros,
                                                          const WordSet& types);

enum class TypeFit {
  fits,
  doubtful,  ///< only for a kernel that takes the elements' bits
  differs,
};

/// How a parameter fits to a buffer of such elements, or to a number by value.
[[nodiscard]] TypeFit fit_of_buffer(const ParameterType& parameter, ElementType element);
[[nodiscard]] TypeFit fit_of_number(const ParameterType& parameter, ElementType number);

/// A vector type of CUDA's headers: a float4 is 4 floats at an address that is a multiple of 16.
struct VectorType {
  ElementType element = ElementType::f32;
  int width = 1;
  int align_bytes = 1;
};

/// Of a name such as "float4", "uchar2" or "__half2"; none for others.
[[nodiscard]] std::optional<VectorType> vector_type(std::string_view name);

}  // namespace tuner::source
