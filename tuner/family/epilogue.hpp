// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace tuner {

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
  /// Whether nothing follows.
  [[nodiscard]] bool is_none() const {
    return bias == Bias::none && activation == Activation::none && !residual;
  }
  bool operator==(const Epilogue&) const = default;  ///< all members

  Bias bias = Bias::none;                    ///< what is added first
  Activation activation = Activation::none;  ///< of the sum
  bool residual = false;                     ///< whether a residual is added
};

/// By what factor an activation enlarges errors at most: GELU's slope at √2 is 1.129.
[[nodiscard]] constexpr double largest_slope(Activation activation) {
  return activation == Activation::gelu ? 1.13 : 1;
}

}  // namespace tuner
