// SPDX-License-Identifier: Apache-2.0
// Copies by the tensor memory accelerator (TMA): one thread starts the copy of a box of a matrix,
// whose bytes complete at an mbarrier. Elements outside the matrix are zero. Barriers and targets
// are shared memory addresses. Compute capability 9.0.
#pragma once

/// The driver's CUtensorMap: address, extents and strides of a tensor, box, and swizzle mode.
struct alignas(64) TensorMap {
  unsigned long long opaque[16];
};

/// Initializes an mbarrier. A phase completes after `count` arrivals and all expected bytes.
template <class Address>
__device__ __forceinline__ void make_barrier(Address barrier, int count) {
  asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(barrier), "r"(count));
}
/// Makes the barriers that this thread initialized visible to the TMA unit.
__device__ __forceinline__ void publish_barriers() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}
/// Arrives, and adds to the bytes that the barrier expects.
template <class Address>
__device__ __forceinline__ void arrive_expecting(Address barrier, int bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes)
               : "memory");
}
/// Waits until the phase with this parity has completed.
template <class Address>
__device__ __forceinline__ void await_barrier(Address barrier, unsigned parity) {
  asm volatile(
      "{\n"
      ".reg .pred arrived;\n"
      "again:\n"
      "mbarrier.try_wait.parity.shared.b64 arrived, [%0], %1;\n"
      "@!arrived bra again;\n"
      "}" ::"r"(barrier),
      "r"(parity)
      : "memory");
}

/// Starts the copy of the box at (x, y) to `to`.
template <class Address>
__device__ __forceinline__ void fetch_box(Address to, const TensorMap& matrix, int x, int y,
                                          Address barrier) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes "
      "[%0], [%1, {%2, %3}], [%4];" ::"r"(to),
      "l"(&matrix), "r"(x), "r"(y), "r"(barrier)
      : "memory");
}
