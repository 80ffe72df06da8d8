// SPDX-License-Identifier: Apache-2.0
// Numbers sent to the shared memory of blocks of the cluster. Compute capability 9.0.
#pragma once

#include "common/async_barrier.cuh"

/// Arrives at the barrier of all threads of the cluster, for others to send to this block: behind
/// await_cluster() they see the barriers that publish_barriers() made visible, and nothing else.
__device__ __forceinline__ void announce_to_cluster() {
#ifndef TUNER_CPU_BACKEND
  asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
#endif
}

/// Stores a number of 4 bytes in the block with this rank, at this shared memory address; its bytes
/// arrive at that block's barrier at `barrier`.
template <class T>
__device__ __forceinline__ void send_to_rank(unsigned address, T value, unsigned barrier,
                                             int rank) {
  static_assert(sizeof(T) == 4);
#ifndef TUNER_CPU_BACKEND
  const union {
    T number;
    unsigned bits;
  } sent{value};
  asm volatile(
      "{\n"
      ".reg .b32 to, arrives;\n"
      "mapa.shared::cluster.u32 to, %0, %3;\n"
      "mapa.shared::cluster.u32 arrives, %2, %3;\n"
      "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b32 [to], %1, [arrives];\n"
      "}" ::"r"(address),
      "r"(sent.bits), "r"(barrier), "r"(rank)
      : "memory");
#else
  *at_shared_address<T>(address) = value;
  auto* const at = at_shared_address<HostBarrier>(barrier);
  at->bytes -= 4;
  at->complete_if_done();
#endif
}
