// SPDX-License-Identifier: Apache-2.0
// How an application describes a matrix product: the types, what is transposed, what follows it.
#pragma once

namespace tuner {

/// The types of a product, named as in the dimension TYPE of the families "gemm" and "gemm_tensor".
enum class GemmType {
  f32,       ///< float
  bf16,      ///< matrices of __nv_bfloat16; sums and factors in float
  f16,       ///< matrices of __half; sums and factors in float
  f64,       ///< double
  s8,        ///< A and B of signed char; C, sums and factors of int
  bf16_f32,  ///< A and B of __nv_bfloat16; C, sums and factors in float
  f16_f32,   ///< A and B of __half; C, sums and factors in float
  tf32,      ///< all float; of A and B 19 bits may be read
  e4m3       ///< A and B of __nv_fp8_e4m3, C of __nv_bfloat16; sums and factors in float
};

/// Whether a product takes a matrix as it is stored or its transpose.
enum class Transpose { no, yes };

/// Which dimension of C indexes a bias.
enum class Bias {
  none,        ///< there is no bias
  per_column,  ///< one number for each column of C
  per_row,     ///< one number for each row of C
};
/// A function of each element of C.
enum class Activation {
  none,  ///< the element itself
  relu,  ///< ReLU
  gelu,  ///< GELU by tanh
};

/// What follows a product: C = activation(alpha·op(A)·op(B) + beta·C + bias + residual), where the
/// residual is a matrix that lies as C does.
struct Epilogue {
  /// @return whether nothing follows.
  [[nodiscard]] bool is_none() const {
    return bias == Bias::none && activation == Activation::none && !residual;
  }
  /// @return whether all members are equal.
  bool operator==(const Epilogue&) const = default;

  Bias bias = Bias::none;                    ///< what is added first
  Activation activation = Activation::none;  ///< of the sum
  bool residual = false;                     ///< whether a residual is added
};

/// By what factor an activation enlarges errors at most: GELU's slope at √2 is 1.129.
[[nodiscard]] constexpr double largest_slope(Activation activation) {
  return activation == Activation::gelu ? 1.13 : 1;
}

}  // namespace tuner
