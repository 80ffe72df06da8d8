// SPDX-License-Identifier: Apache-2.0
// What follows a product: C = f(alpha * op(A) * op(B) + beta * C + bias + residual), computed in
// single precision.
#pragma once

/// ReLU.
__device__ __forceinline__ float relu(float x) {
  return x < 0.0f ? 0.0f : x;  // NaN stays
}

/// GELU by tanh: x / 2 * (1 + tanh(y)) = x / (1 + exp(-2 y)), y = sqrt(2 / pi) * (x + 0.044715 x^3)
/// (Hendrycks and Gimpel, arXiv:1606.08415). Relative errors of a few units in the last place.
__device__ __forceinline__ float gelu(float x) {
  const float minus_2_y = -x * (1.5957691216f + 0.0713548163f * x * x);
#ifdef __CUDA_ARCH__
  return __fdividef(x, 1.0f + __expf(minus_2_y));
#else
  return x / (1.0f + expf(minus_2_y));
#endif
}

/// T: the type of C, bias and residual.
///
///   BIAS        1: a number for each column of C, 2: for each row, 0: none
///   ACTIVATION  f: 1: ReLU, 2: GELU, 0: none
///   RESIDUAL    a matrix that lies as C does is added
template <class T, int BIAS, int ACTIVATION, bool RESIDUAL>
struct Epilogue {
  static constexpr bool IS_NONE = BIAS == 0 && ACTIVATION == 0 && !RESIDUAL;
  const T* bias;
  const T* residual;

  /// Of the element of C in `row` and `column`, `offset` elements behind its first one.
  __device__ __forceinline__ float apply(float value, int row, int column, long long offset) const {
    if constexpr (BIAS == 1) value += static_cast<float>(bias[column]);
    if constexpr (BIAS == 2) value += static_cast<float>(bias[row]);
    if constexpr (RESIDUAL) value += static_cast<float>(residual[offset]);
    if constexpr (ACTIVATION == 1) value = relu(value);
    if constexpr (ACTIVATION == 2) value = gelu(value);
    return value;
  }
};
