// SPDX-License-Identifier: Apache-2.0
// The thread of a block that loads the k-tiles of its tiles into a ring of stages by TMA.
#pragma once

#include "tensor_operand.cuh"
#include "tensor_work.cuh"

/// Loads the k-tiles of the tiles of a block, one after the other.
///
///   Rows, Columns  the operands (TensorOperand); a stage has a k-tile of both
///   Groups         where their rows are: WholeMatrices or RowGroups
///   SWAP           the rows are those of B
///   CLUSTER_K      blocks of a cluster that divide K
template <class Rows, class Columns, class Groups, bool SWAP, int STAGES, int CLUSTER_K>
class TensorProducer {
 public:
  static constexpr int STAGE_BYTES = Rows::BYTES + Columns::BYTES;

  /// `stages`, `full`, `empty`: addresses in shared memory of the first stage and of its barriers,
  /// 8 bytes each. `rank`: of the block in its cluster.
  __device__ __forceinline__ TensorProducer(const Groups& groups, const TensorMap3& row_map,
                                            const TensorMap3& column_map, unsigned stages,
                                            unsigned full, unsigned empty, int rank)
      : groups_(groups),
        row_map_(row_map),
        column_map_(column_map),
        stages_(stages),
        full_(full),
        empty_(empty),
        rank_(rank) {}

  /// Goes on to the next tile of the queue, of products `k_tiles` deep; false when nothing is left.
  __device__ __forceinline__ bool begin_tile(typename Groups::Queue& queue, int k_tiles) {
    if (!queue.next(work_)) return false;
    if constexpr (CLUSTER_K > 1) take_share(work_, rank_, CLUSTER_K, k_tiles);
    const int first = groups_.first(work_);
    batch_of_a_ = groups_.batch_of_a(work_);
    row_ = (work_.m * CLUSTER_M + rank_m()) * Rows::TILE + (SWAP ? 0 : first);
    column_ = (work_.n * CLUSTER_N + rank_n()) * Columns::TILE + (SWAP ? first : 0);
    return true;
  }

  /// Loads the k-tiles of the tile, each when its stage has been read.
  __device__ __forceinline__ void load() {
    for (int k_tile = work_.begin; k_tile < work_.end; ++k_tile) {
      const unsigned to = stages_ + at_.stage * STAGE_BYTES;
      const unsigned barrier = full_ + 8 * at_.stage;
      const int k = k_tile * Rows::TILE_K;
      await_phase(empty_ + 8 * at_.stage, at_.parity ^ 1);
      arrive_expecting(barrier, STAGE_BYTES);
      Rows::load(to, row_map_, row_, k, SWAP ? work_.batch : batch_of_a_, barrier, rank_n(),
                 row_ranks());
      Columns::load(to + Rows::BYTES, column_map_, column_, k, SWAP ? batch_of_a_ : work_.batch,
                    barrier, rank_m(), column_ranks());
      at_.advance();
    }
  }

  /// Waits until all stages have been read. Until then other blocks arrive at the barriers of this
  /// one, which must not end.
  __device__ __forceinline__ void finish() {
    for (int stage = 0; stage < STAGES; ++stage) {
      await_phase(empty_ + 8 * at_.stage, at_.parity ^ 1);
      at_.advance();
    }
  }

 private:
  static constexpr int CLUSTER_M = Columns::BLOCKS, CLUSTER_N = Rows::BLOCKS;

  __device__ __forceinline__ int rank_m() const { return CLUSTER_M > 1 ? rank_ / CLUSTER_N : 0; }
  __device__ __forceinline__ int rank_n() const { return CLUSTER_N > 1 ? rank_ % CLUSTER_N : 0; }
  /// Blocks that use the same rows, and those that use the same columns, as sets of bits.
  __device__ __forceinline__ unsigned short row_ranks() const {
    return ((1u << CLUSTER_N) - 1) << (rank_m() * CLUSTER_N);
  }
  __device__ __forceinline__ unsigned short column_ranks() const {
    unsigned short ranks = 0;
    for (int m = 0; m < CLUSTER_M; ++m) ranks |= 1u << (m * CLUSTER_N + rank_n());
    return ranks;
  }

  const Groups& groups_;
  const TensorMap3& row_map_;
  const TensorMap3& column_map_;
  unsigned stages_, full_, empty_;
  int rank_;
  typename Groups::Work work_;
  int row_, column_, batch_of_a_;
  RingPosition<STAGES> at_;
};
