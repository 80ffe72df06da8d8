// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The coefficients, row by row, which kernels take by value: parameters lie in constant memory.
template <int F>
struct Filter {
  float at[F * F];
};
