// SPDX-License-Identifier: Apache-2.0
// Barriers in shared memory (mbarrier), given by their shared memory addresses. Compute capability
// 9.0.
#pragma once

/// Initializes an mbarrier. A phase completes after `count` arrivals and all expected bytes.
template <class Address>
__device__ __forceinline__ void make_barrier(Address barrier, int count) {
  asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(barrier), "r"(count));
}
/// Makes the barriers that this thread initialized visible to the TMA unit.
__device__ __forceinline__ void publish_barriers() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}
template <class Address>
__device__ __forceinline__ void arrive(Address barrier) {
  asm volatile("mbarrier.arrive.shared.b64 _, [%0];" ::"r"(barrier) : "memory");
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
