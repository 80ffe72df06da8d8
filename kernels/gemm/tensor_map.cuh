// SPDX-License-Identifier: Apache-2.0
// Copies by the tensor memory accelerator (TMA): one thread asks for a box of a tensor. What lies
// outside of the tensor comes in as zeros. Compute capability 9.0.
#pragma once

/// A tensor as the driver describes it to the hardware (CUtensorMap): where it is, its extents and
/// strides, the box, and how the box's rows are swizzled in shared memory.
struct alignas(64) TensorMap {
  unsigned long long opaque[16];
};

/// Has the box that begins at (x, y, z) brought to `to`, an address in shared memory, and its bytes
/// counted at a barrier there.
template <class Address>
__device__ __forceinline__ void fetch_box(Address to, const TensorMap& tensor, int x, int y, int z,
                                          Address barrier) {
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes "
      "[%0], [%1, {%2, %3, %4}], [%5];" ::"r"(to),
      "l"(&tensor), "r"(x), "r"(y), "r"(z), "r"(barrier)
      : "memory");
}

/// Lets the hardware that copies see the barriers that this thread has made.
__device__ __forceinline__ void publish_barriers() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}
