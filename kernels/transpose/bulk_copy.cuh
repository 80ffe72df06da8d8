// SPDX-License-Identifier: Apache-2.0
// Copies by the tensor memory accelerator (TMA): one thread asks for a box of a matrix, whose bytes
// are counted at a barrier in shared memory, known by its address (mbarrier). What lies outside of
// the matrix comes in as zeros. Compute capability 9.0.
#pragma once

/// A tensor as the driver describes it to the hardware (CUtensorMap).
struct alignas(64) TensorMap {
  unsigned long long opaque[16];
};

/// A barrier that is passed once `count` arrivals have come by and the bytes that were announced
/// have come in.
template <class Address>
__device__ __forceinline__ void make_barrier(Address barrier, int count) {
  asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(barrier), "r"(count));
}
/// Lets the hardware that copies see the barriers that this thread has made.
__device__ __forceinline__ void publish_barriers() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}
/// Arrives, and announces bytes.
template <class Address>
__device__ __forceinline__ void arrive_expecting(Address barrier, int bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes)
               : "memory");
}
/// Waits until the barrier is passed for the time whose number has this parity.
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

/// Has the box that begins at (x, y) brought to `to`, an address in shared memory.
template <class Address>
__device__ __forceinline__ void fetch_box(Address to, const TensorMap& matrix, int x, int y,
                                          Address barrier) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes "
      "[%0], [%1, {%2, %3}], [%4];" ::"r"(to),
      "l"(&matrix), "r"(x), "r"(y), "r"(barrier)
      : "memory");
}
