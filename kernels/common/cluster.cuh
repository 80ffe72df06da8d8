// SPDX-License-Identifier: Apache-2.0
// Clusters of blocks along x, whose blocks reach each other's shared memory. Compute
// capability 9.0.
#pragma once

#include "common/async_barrier.cuh"

/// Arrives at a barrier of all threads of the cluster that have not ended; await_cluster() waits
/// for the others.
__device__ __forceinline__ void arrive_at_cluster() {
#ifndef TUNER_CPU_BACKEND
  asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
#endif
}
__device__ __forceinline__ void await_cluster() {
#ifndef TUNER_CPU_BACKEND
  asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
#endif
}
__device__ __forceinline__ void sync_cluster() {
  arrive_at_cluster();
  await_cluster();
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

/// Reads what is at this shared memory address in the block with this rank. T: 16 bytes.
template <class T>
__device__ __forceinline__ T load_from_rank(unsigned address, int rank) {
#ifndef TUNER_CPU_BACKEND
  union {
    unsigned word[4];
    T value;
  } loaded;
  static_assert(sizeof loaded == 16 && sizeof(T) == 16);
  asm volatile(
      "{\n"
      ".reg .b32 remote;\n"
      "mapa.shared::cluster.u32 remote, %4, %5;\n"
      "ld.shared::cluster.v4.b32 {%0, %1, %2, %3}, [remote];\n"
      "}"
      : "=r"(loaded.word[0]), "=r"(loaded.word[1]), "=r"(loaded.word[2]), "=r"(loaded.word[3])
      : "r"(address), "r"(rank)
      : "memory");
  return loaded.value;
#else
  return *at_shared_address<T>(address);
#endif
}
