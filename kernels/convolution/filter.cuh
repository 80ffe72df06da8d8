// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The coefficients, row-major. Passed by value: kernel parameters are in constant memory.
template <int F>
struct Filter {
  float at[F * F];
};
