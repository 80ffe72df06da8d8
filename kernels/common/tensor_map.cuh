// SPDX-License-Identifier: Apache-2.0
// Copies by the tensor memory accelerator (TMA): one thread starts the copy of a box of a tensor.
// Elements outside the tensor are zero. Compute capability 9.0.
#pragma once

/// The driver's CUtensorMap: address, extents and strides of a tensor, box, and swizzle mode.
struct alignas(64) TensorMap {
  unsigned long long opaque[16];
};

/// Starts the copy of the box at (x, y, z) to `to`; its bytes complete at `barrier`. `to` and
/// `barrier` are shared memory addresses.
template <class Address>
__device__ __forceinline__ void fetch_box(Address to, const TensorMap& tensor, int x, int y, int z,
                                          Address barrier) {
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes "
      "[%0], [%1, {%2, %3, %4}], [%5];" ::"r"(to),
      "l"(&tensor), "r"(x), "r"(y), "r"(z), "r"(barrier)
      : "memory");
}
/// As above, of a matrix.
template <class Address>
__device__ __forceinline__ void fetch_box(Address to, const TensorMap& tensor, int x, int y,
                                          Address barrier) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes "
      "[%0], [%1, {%2, %3}], [%4];" ::"r"(to),
      "l"(&tensor), "r"(x), "r"(y), "r"(barrier)
      : "memory");
}
