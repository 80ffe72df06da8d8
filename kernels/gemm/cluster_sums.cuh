// SPDX-License-Identifier: Apache-2.0
// Sums of a tile by the blocks of a cluster that divide K. Compute capability 9.0.
#pragma once

#include "common/async_barrier.cuh"
#include "common/shared_memory.cuh"
#include "common/vector.cuh"

/// The sums of BLOCKS blocks, VECTORS times 4 of each of THREADS threads. Each block sends vectors
/// to the block that stores that part of the tile, which waits for bytes instead of for a barrier
/// of the cluster. A block stores OWN vectors of each thread; the last blocks may have fewer or
/// none.
template <class S, int BLOCKS, int VECTORS, int THREADS>
class ClusterSums {
  using Four = Vector<S, 4>;

 public:
  static constexpr int OWN = (VECTORS + BLOCKS - 1) / BLOCKS;
  static constexpr int BYTES =
      BLOCKS * OWN * THREADS * 16;  ///< of shared memory, for received sums

  /// `received`: that memory, aligned to 16 bytes. `barrier`: the address of a barrier for one
  /// arrival. Both lie at the same place in every block. `rank`: of the block.
  __device__ __forceinline__ ClusterSums(unsigned char* received, unsigned barrier, int rank)
      : mine_(reinterpret_cast<Four*>(received) + threadIdx.x), barrier_(barrier), rank_(rank) {}

  /// The first of this block's vectors, and how many there are.
  __device__ __forceinline__ int first() const { return rank_ * OWN; }
  __device__ __forceinline__ int count() const {
    const int left = VECTORS - first();
    return left < 0 ? 0 : left < OWN ? left : OWN;
  }

  /// Announces what this block receives. One thread calls it, before it waits.
  __device__ __forceinline__ void expect() const {
    arrive_expecting(barrier_, BLOCKS * count() * (THREADS * 16));
  }
  /// Sends the i-th vector of this thread. `i` is known to the compiler. Every block of the cluster
  /// has initialized its barrier by now, and none has ended that receives.
  __device__ __forceinline__ void send(int i, const S* sums) const {
    send_vector(shared_address(mine_ + (rank_ * OWN + i % OWN) * THREADS), sums, i / OWN);
  }
  /// Waits for the sums of all blocks.
  __device__ __forceinline__ void await() const {
#ifndef TUNER_CPU_BACKEND
    asm volatile(
        "{\n"
        ".reg .pred complete;\n"
        "again:\n"
        "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 complete, [%0], 0;\n"
        "@!complete bra again;\n"
        "}" ::"r"(barrier_)
        : "memory");
#else
    await_phase(barrier_, 0);
#endif
  }
  /// The total of this thread's i-th vector of this block, in the order of the ranks.
  __device__ __forceinline__ Four total(int i) const {
    Four total = {};
#pragma unroll
    for (int from = 0; from < BLOCKS; ++from) {
      const Four sums = mine_[(from * OWN + i) * THREADS];
#pragma unroll
      for (int j = 0; j < 4; ++j) total.at[j] += sums.at[j];
    }
    return total;
  }

 private:
  /// Stores four sums at an address of the block with this rank; their bytes arrive at its barrier.
  __device__ __forceinline__ void send_vector(unsigned address, const S* sums, int rank) const {
#ifndef TUNER_CPU_BACKEND
    union {
      S sum[4];
      unsigned word[4];
    } const sent = {{sums[0], sums[1], sums[2], sums[3]}};
    asm volatile(
        "{\n"
        ".reg .b32 to, arrives;\n"
        "mapa.shared::cluster.u32 to, %0, %6;\n"
        "mapa.shared::cluster.u32 arrives, %5, %6;\n"
        "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v4.b32 [to], "
        "{%1, %2, %3, %4}, [arrives];\n"
        "}" ::"r"(address),
        "r"(sent.word[0]), "r"(sent.word[1]), "r"(sent.word[2]), "r"(sent.word[3]), "r"(barrier_),
        "r"(rank)
        : "memory");
#else
    *at_shared_address<Four>(address) = {{sums[0], sums[1], sums[2], sums[3]}};
    auto* const at = at_shared_address<HostBarrier>(barrier_);
    at->bytes -= 16;
    at->complete_if_done();
#endif
  }

  Four* mine_;  ///< of this thread
  unsigned barrier_;
  int rank_;
};
