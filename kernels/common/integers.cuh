// SPDX-License-Identifier: Apache-2.0
// Integer functions.
#pragma once

__device__ constexpr int ceil_div(int a, int b) {
  return (a + b - 1) / b;
}

__device__ constexpr int align_up(int a, int multiple) {
  return (a + multiple - 1) / multiple * multiple;
}

__device__ constexpr int greatest_common_divisor(int a, int b) {
  return b == 0 ? a : greatest_common_divisor(b, a % b);
}

/// The widest vector, in floats, that divides `count`.
__device__ constexpr int vector_width(int count) {
  return count % 4 == 0 ? 4 : count % 2 == 0 ? 2 : 1;
}
