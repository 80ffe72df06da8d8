// SPDX-License-Identifier: Apache-2.0
// Copies of boxes of a tensor by the tensor memory accelerator (TMA), and stores of boxes, with a
// version for the host. One thread starts a copy. Elements outside of the tensor are zero, and not
// stored. Compute capability 9.0.
#pragma once

#include "common/async_barrier.cuh"
#include "common/shared_memory.cuh"

/// A tensor of rank 3 with its box: the driver's CUtensorMap, on the host tuner::HostTensorMap.
struct alignas(64) TensorMap3 {
  unsigned long long opaque[16];
};

#ifdef TUNER_CPU_BACKEND
/// Calls `what(shared memory, element of the tensor, its bytes)` for each element of the box at
/// (x, y, z); the second is null outside of the tensor. Returns the bytes of the box. With
/// WHOLE_PIECES rows of the tensor end at a multiple of 16 bytes.
template <bool WHOLE_PIECES, class What>
unsigned for_each_of_box(unsigned box, const TensorMap3& tensor, int x, int y, int z,
                         const What& what) {
  tuner::HostTensorMap map;
  __builtin_memcpy(&map, &tensor, sizeof map);
  const long long piece = WHOLE_PIECES ? 16 / map.element_bytes : 1;
  const long long columns = (map.extents[0] + piece - 1) / piece * piece;
  const int first[3] = {x, y, z};
  unsigned address = box;
  for (unsigned k = 0; k < map.box[2]; ++k) {
    for (unsigned j = 0; j < map.box[1]; ++j) {
      const long long row[2] = {first[1] + static_cast<long long>(j),
                                first[2] + static_cast<long long>(k)};
      const bool is_row =
          row[0] >= 0 && row[0] < map.extents[1] && row[1] >= 0 && row[1] < map.extents[2];
      for (unsigned i = 0; i < map.box[0]; ++i, address += map.element_bytes) {
        const long long column = first[0] + static_cast<long long>(i);
        const unsigned at = map.swizzle_bytes == 128 ? swizzled_128(address) : address;
        what(at_shared_address<unsigned char>(at),
             is_row && column >= 0 && column < columns
                 ? map.begin + row[0] * map.strides_bytes[0] + row[1] * map.strides_bytes[1] +
                       column * map.element_bytes
                 : nullptr,
             map.element_bytes);
      }
    }
  }
  return address - box;
}

inline void copy_box_on_host(unsigned to, const TensorMap3& tensor, int x, int y, int z,
                             unsigned barrier) {
  tuner::HostTensorMap map;
  __builtin_memcpy(&map, &tensor, sizeof map);
  if (map.swizzle_bytes != 0 && x * static_cast<int>(map.element_bytes) % 16 != 0) __trap();
  const unsigned bytes = for_each_of_box<false>(
      to, tensor, x, y, z,
      [](unsigned char* element, const unsigned char* from, unsigned element_bytes) {
        if (from != nullptr) {
          __builtin_memcpy(element, from, element_bytes);
        } else {
          __builtin_memset(element, 0, element_bytes);
        }
      });
  auto* const at = at_shared_address<HostBarrier>(barrier);
  at->bytes -= static_cast<int>(bytes);
  at->complete_if_done();
}

inline void store_box_on_host(unsigned from, const TensorMap3& tensor, int x, int y, int z) {
  for_each_of_box<true>(
      from, tensor, x, y, z,
      [](const unsigned char* element, unsigned char* to, unsigned element_bytes) {
        if (to != nullptr) __builtin_memcpy(to, element, element_bytes);
      });
}
#endif

/// The policy of a copy whose data leave the L2 cache before others.
__device__ __forceinline__ unsigned long long evict_first_policy() {
  unsigned long long policy = 0;
#ifndef TUNER_CPU_BACKEND
  asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
#endif
  return policy;
}

/// Starts the copy of the box at (x, y, z) to shared memory; its bytes arrive at `barrier`.
/// Swizzled boxes start at a multiple of 16 bytes of a row: else an H200 ends the program, as if
/// the instruction were illegal.
template <bool EVICT_FIRST>
__device__ __forceinline__ void copy_box(unsigned to, const TensorMap3& tensor, int x, int y, int z,
                                         unsigned barrier) {
#ifndef TUNER_CPU_BACKEND
  if constexpr (EVICT_FIRST) {
    asm volatile(
        "cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes"
        ".L2::cache_hint [%0], [%1, {%2, %3, %4}], [%5], %6;" ::"r"(to),
        "l"(&tensor), "r"(x), "r"(y), "r"(z), "r"(barrier), "l"(evict_first_policy())
        : "memory");
  } else {
    asm volatile(
        "cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes "
        "[%0], [%1, {%2, %3, %4}], [%5];" ::"r"(to),
        "l"(&tensor), "r"(x), "r"(y), "r"(z), "r"(barrier)
        : "memory");
  }
#else
  copy_box_on_host(to, tensor, x, y, z, barrier);
#endif
}

/// Copies a box into the shared memory of every block of the cluster whose bit in `ranks` is set,
/// at the same address; its bytes arrive at the barrier at the same address of each.
template <bool EVICT_FIRST>
__device__ __forceinline__ void copy_box_to_ranks(unsigned to, const TensorMap3& tensor, int x,
                                                  int y, int z, unsigned barrier,
                                                  unsigned short ranks) {
#ifndef TUNER_CPU_BACKEND
  if constexpr (EVICT_FIRST) {
    asm volatile(
        "cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes"
        ".multicast::cluster.L2::cache_hint [%0], [%1, {%2, %3, %4}], [%5], %6, %7;" ::"r"(to),
        "l"(&tensor), "r"(x), "r"(y), "r"(z), "r"(barrier), "h"(ranks), "l"(evict_first_policy())
        : "memory");
  } else {
    asm volatile(
        "cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes"
        ".multicast::cluster [%0], [%1, {%2, %3, %4}], [%5], %6;" ::"r"(to),
        "l"(&tensor), "r"(x), "r"(y), "r"(z), "r"(barrier), "h"(ranks)
        : "memory");
  }
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

/// Makes what this thread has written to shared memory visible to the stores of boxes that begin
/// after a barrier.
__device__ __forceinline__ void publish_to_tma() {
#ifndef TUNER_CPU_BACKEND
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#endif
}

/// The boxes that a thread has begun to store, in the order in which it began.
class BoxStores {
 public:
  /// Starts the store of a box of BYTES bytes at (x, y, z) from shared memory. Elements outside of
  /// the tensor are left out, but a row is stored up to a multiple of 16 bytes (H200). Until
  /// await_read() covers it the shared memory must not change.
  template <int BYTES>
  __device__ __forceinline__ void store(unsigned from, const TensorMap3& tensor, int x, int y,
                                        int z) {
#ifndef TUNER_CPU_BACKEND
    asm volatile(
        "cp.async.bulk.tensor.3d.global.shared::cta.bulk_group [%0, {%1, %2, %3}], [%4];\n"
        "cp.async.bulk.commit_group;" ::"l"(&tensor),
        "r"(x), "r"(y), "r"(z), "r"(from)
        : "memory");
#else
    if (count_ == MOST) __trap();
    begun_[count_++] = {from, {x, y, z}, BYTES, &tensor, hash(from, BYTES)};
#endif
  }

  /// Waits until of all but the last PENDING boxes the shared memory has been read.
  template <int PENDING>
  __device__ __forceinline__ void await_read() {
#ifndef TUNER_CPU_BACKEND
    asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(PENDING) : "memory");
#else
    int done = 0;
    for (; count_ - done > PENDING; ++done) complete(begun_[done]);
    for (int i = done; i < count_; ++i) begun_[i - done] = begun_[i];
    count_ -= done;
#endif
  }

#ifdef TUNER_CPU_BACKEND
 private:
  struct Box {
    unsigned from;
    int first[3];
    int bytes;
    const TensorMap3* tensor;
    unsigned long long begun;  // hash of what was there when the store began
  };

  static unsigned long long hash(unsigned from, int bytes) {
    unsigned long long hash = 14695981039346656037ull;
    for (int i = 0; i < bytes; ++i) {
      hash = (hash ^ at_shared_address<unsigned char>(from)[i]) * 1099511628211ull;
    }
    return hash;
  }

  /// A GPU may read a box from its begin until now. One that has changed since is not stored as
  /// numbers.
  static void complete(const Box& box) {
    if (hash(box.from, box.bytes) != box.begun) {
      __builtin_memset(at_shared_address<unsigned char>(box.from), 0xff,
                       static_cast<unsigned>(box.bytes));
    }
    store_box_on_host(box.from, *box.tensor, box.first[0], box.first[1], box.first[2]);
  }

  static constexpr int MOST = 4;
  Box begun_[MOST];
  int count_ = 0;
#endif
};
