// SPDX-License-Identifier: Apache-2.0
// Vectors of floats.
#pragma once

/// COUNT floats that one instruction loads or stores: 1, 2 or 4.
template <int COUNT>
struct alignas(COUNT * sizeof(float)) Floats {
  float at[COUNT];
};
