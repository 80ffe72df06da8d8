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
