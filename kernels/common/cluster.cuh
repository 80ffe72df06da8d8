// SPDX-License-Identifier: Apache-2.0
// Clusters of blocks along x, whose blocks reach each other's shared memory. Compute
// capability 9.0.
#pragma once

#include "common/async_barrier.cuh"

/// A barrier of all threads of the cluster that have not ended.
__device__ __forceinline__ void sync_cluster() {
#ifndef TUNER_CPU_BACKEND
  asm volatile(
      "barrier.cluster.arrive.release.aligned;\n"
      "barrier.cluster.wait.acquire.aligned;" ::
          : "memory");
#endif
}

/// Arrives at the barrier that is at the same address in the block with this rank.
__device__ __forceinline__ void arrive_at_rank(unsigned barrier, int rank) {
#ifndef TUNER_CPU_BACKEND
  asm volatile(
      "{\n"
      ".reg .b32 remote;\n"
      "mapa.shared::cluster.u32 remote, %0, %1;\n"
      "mbarrier.arrive.shared::cluster.b64 _, [remote];\n"
      "}" ::"r"(barrier),
      "r"(rank)
      : "memory");
#else
  arrive(barrier);
#endif
}
