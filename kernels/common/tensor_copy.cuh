// SPDX-License-Identifier: Apache-2.0
// Copies of boxes of a tensor by the tensor memory accelerator (TMA), with a version for the host.
// One thread starts a copy. Elements outside of the tensor are zero. Compute capability 9.0.
#pragma once

#include "common/async_barrier.cuh"
#include "common/shared_memory.cuh"

/// A tensor of rank 3 with its box: the driver's CUtensorMap, on the host tuner::HostTensorMap.
struct alignas(64) TensorMap3 {
  unsigned long long opaque[16];
};

#ifdef TUNER_CPU_BACKEND
inline void copy_box_on_host(unsigned to, const TensorMap3& tensor, int x, int y, int z,
                             unsigned barrier) {
  tuner::HostTensorMap map;
  __builtin_memcpy(&map, &tensor, sizeof map);
  const int first[3] = {x, y, z};
  unsigned address = to;
  for (unsigned k = 0; k < map.box[2]; ++k) {
    for (unsigned j = 0; j < map.box[1]; ++j) {
      const long long row[2] = {first[1] + static_cast<long long>(j),
                                first[2] + static_cast<long long>(k)};
      const bool is_row =
          row[0] >= 0 && row[0] < map.extents[1] && row[1] >= 0 && row[1] < map.extents[2];
      for (unsigned i = 0; i < map.box[0]; ++i, address += map.element_bytes) {
        const long long column = first[0] + static_cast<long long>(i);
        const unsigned at = map.swizzle_bytes == 128 ? swizzled_128(address) : address;
        auto* const element = at_shared_address<unsigned char>(at);
        if (is_row && column >= 0 && column < map.extents[0]) {
          __builtin_memcpy(element,
                           map.begin + row[0] * map.strides_bytes[0] +
                               row[1] * map.strides_bytes[1] + column * map.element_bytes,
                           map.element_bytes);
        } else {
          __builtin_memset(element, 0, map.element_bytes);
        }
      }
    }
  }
  auto* const at = at_shared_address<HostBarrier>(barrier);
  at->bytes -= static_cast<int>(address - to);
  at->complete_if_done();
}
#endif

/// Starts the copy of the box at (x, y, z) to shared memory; its bytes arrive at `barrier`.
__device__ __forceinline__ void copy_box(unsigned to, const TensorMap3& tensor, int x, int y, int z,
                                         unsigned barrier) {
#ifndef TUNER_CPU_BACKEND
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes "
      "[%0], [%1, {%2, %3, %4}], [%5];" ::"r"(to),
      "l"(&tensor), "r"(x), "r"(y), "r"(z), "r"(barrier)
      : "memory");
#else
  copy_box_on_host(to, tensor, x, y, z, barrier);
#endif
}

/// The same into the shared memory of every block of the cluster whose bit in `ranks` is set, at
/// the same address; its bytes arrive at the barrier at the same address of each.
__device__ __forceinline__ void copy_box_to_ranks(unsigned to, const TensorMap3& tensor, int x,
                                                  int y, int z, unsigned barrier,
                                                  unsigned short ranks) {
#ifndef TUNER_CPU_BACKEND
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes"
      ".multicast::cluster [%0], [%1, {%2, %3, %4}], [%5], %6;" ::"r"(to),
      "l"(&tensor), "r"(x), "r"(y), "r"(z), "r"(barrier), "h"(ranks)
      : "memory");
#else
  copy_box_on_host(to, tensor, x, y, z, barrier);
#endif
}

/// Fetches the tensor map itself.
__device__ __forceinline__ void prefetch_map(const TensorMap3& tensor) {
#ifndef TUNER_CPU_BACKEND
  asm volatile("prefetch.tensormap [%0];" ::"l"(&tensor) : "memory");
#endif
}
