// SPDX-License-Identifier: Apache-2.0
// What a persistent block computes: tiles of C in raster order, whole or in parts along K.
#pragma once

#include "common/integers.cuh"

/// a / b for 0 <= a < 2^30 and 0 < b, in a fraction of the time of a division of integers: a
/// block's first copy waits for some. Most divisors are powers of two, or larger than what they
/// divide.
__device__ __forceinline__ int quotient(int a, int b) {
  if (a < b) return 0;
  if ((b & (b - 1)) == 0) return a >> (31 - __clz(b));
  const float reciprocal = __fdividef(1.0f, static_cast<float>(b));
  int result = static_cast<int>(static_cast<float>(a) * reciprocal);
  // The first is wrong by 2^-21 of itself at most, the second by one.
  result += static_cast<int>(static_cast<float>(a - result * b) * reciprocal);
  const int rest = a - result * b;
  return result + (rest >= b ? 1 : 0) - (rest < 0 ? 1 : 0);
}

/// A part of the depth of a tile of a product: the tile's indices, and k-tiles [begin, end).
struct TensorWork {
  int batch, m, n;
  int begin, end;
  // Where the tile has several parts: which this is, of how many; the number of the tile among
  // those that have; and the slots for partial sums, of the first part and from part to part.
  int split, splits, tile;
  int first_slot, slot_step, first_extra;

  __device__ __forceinline__ int slot(int of_split) const {
    return first_slot + of_split * slot_step + (of_split == 0 ? first_extra : 0);
  }
};

/// Reduces work to the share of one of several blocks that divide it along K. One for which no
/// k-tile is left gets one behind the last of `k_tiles`, whose elements are zero.
__device__ __forceinline__ void take_share(TensorWork& work, int block, int blocks, int k_tiles) {
  const int depth = work.end - work.begin;
  work.end = work.begin + depth * (block + 1) / blocks;
  work.begin += depth * block / blocks;
  if (work.begin == work.end) {
    work.begin = k_tiles;
    work.end = k_tiles + 1;
  }
}

/// The work of a launch, in units of a cluster's tiles.
struct TensorSchedule {
  int tiles_m, tiles_n, batches;
  int splits;    ///< parts of each tile; where tiles are streamed, the most parts of one
  int streamed;  ///< stream-K: so many tiles, the last ones, are divided evenly among the workers
  int group_m;   ///< rows of tiles in a band
  int k_tiles;   ///< of the whole depth; at least `splits` where no tile is streamed

  __device__ __forceinline__ int tiles() const { return tiles_m * tiles_n * batches; }

  /// Sets the indices of a tile. Consecutive numbers traverse bands of group_m rows of tiles,
  /// column by column, so that concurrent blocks share operands in the L2 cache.
  __device__ __forceinline__ void place(TensorWork& work, int tile) const {
    work.batch = quotient(tile, tiles_m * tiles_n);
    const int index = tile - work.batch * (tiles_m * tiles_n);
    const int band = quotient(index, group_m * tiles_n);
    const int in_band = index - band * (group_m * tiles_n);
    const int left = tiles_m - band * group_m;
    const int height = left < group_m ? left : group_m;
    work.n = quotient(in_band, height);
    work.m = band * group_m + in_band - work.n * height;
  }
};

class TensorQueue;

/// Products of whole matrices A, one for each of a batch.
struct WholeMatrices {
  using Work = TensorWork;
  using Queue = TensorQueue;

  /// The first row of the tile's product in A, their number where A has M, and the A of a batch.
  __device__ __forceinline__ int first(const Work&) const { return 0; }
  __device__ __forceinline__ int rows(const Work&, int M) const { return M; }
  __device__ __forceinline__ int batch_of_a(const Work& work) const { return work.batch; }
  /// Of the product in C.
  __device__ __forceinline__ long long offset(const Work& work, long long stride, int) const {
    return work.batch * stride;
  }
};

/// The work of one worker, a cluster, of several: every `workers`-th tile or part of one, and then
/// its share of the streamed tiles, a range of their k-tiles.
///
/// Consecutive workers have parts of different tiles at the same depth, as far as there are: they
/// share operands, and blocks that start together on free multiprocessors fill one GPC after the
/// other, whose requests the L2 cache takes together (256 x 256 x 32768 in 16 splits, loads alone:
/// 13.5 instead of 18.0 us on an H100).
class TensorQueue {
 public:
  __device__ __forceinline__ TensorQueue(const TensorSchedule& schedule, int worker, int workers,
                                         const WholeMatrices&)
      : schedule_(schedule), workers_(workers), number_(worker) {
    const int depth = schedule.streamed * schedule.k_tiles;
    sharers_ = workers < depth ? workers : depth;
    if (worker < sharers_) {
      sharer_ = sharer_of(worker);
      position_ = start(sharer_);
      stop_ = start(sharer_ + 1);
    } else {
      position_ = stop_ = depth;
    }
  }

  /// Whether nothing is left.
  __device__ __forceinline__ bool is_empty() const {
    const int whole = schedule_.tiles() - schedule_.streamed;
    return number_ >= whole * (schedule_.streamed > 0 ? 1 : schedule_.splits) && position_ >= stop_;
  }
  /// False when nothing is left.
  __device__ __forceinline__ bool next(TensorWork& work) {
    const int k_tiles = schedule_.k_tiles;
    const int splits = schedule_.streamed > 0 ? 1 : schedule_.splits;
    const int whole = schedule_.tiles() - schedule_.streamed;
    if (number_ < whole * splits) {
      const int split = quotient(number_, whole);
      const int tile = number_ - split * whole;
      schedule_.place(work, tile);
      const int each = quotient(k_tiles, splits), more = k_tiles - each * splits;
      work.begin = split * each + (split < more ? split : more);
      work.end = work.begin + each + (split < more ? 1 : 0);
      work.split = split;
      work.splits = splits;
      work.tile = tile;
      work.first_slot = tile * splits;
      work.slot_step = 1;
      work.first_extra = 0;
      number_ += workers_;
      return true;
    }
    if (position_ >= stop_) return false;
    const int tile = position_ / k_tiles;
    const int first = sharer(tile * k_tiles), last = sharer((tile + 1) * k_tiles - 1);
    schedule_.place(work, whole + tile);
    work.begin = position_ - tile * k_tiles;
    work.end = stop_ < (tile + 1) * k_tiles ? stop_ - tile * k_tiles : k_tiles;
    work.split = sharer_ - first;
    work.splits = last - first + 1;
    work.tile = tile;
    // A sharer has two slots: for the tile with which its range begins, and for the one with which
    // it ends. Only the first part of a tile may end a range that began with another tile.
    work.first_slot = 2 * first;
    work.slot_step = 2;
    work.first_extra = start(first) / k_tiles != tile ? 1 : 0;
    position_ += work.end - work.begin;
    return true;
  }

 private:
  /// The sharer that a worker is: each is one. Whole numbers of ranges begin in every tile first,
  /// at the same depth in turn; then the ranges that are left.
  __device__ __forceinline__ int sharer_of(int worker) const {
    const int tiles = schedule_.streamed;
    const int each = quotient(sharers_, tiles), more = sharers_ - each * tiles;
    if (worker < each * tiles) {
      const int depth = quotient(worker, tiles), tile = worker - depth * tiles;
      return each * tile + quotient(tile * more + tiles - 1, tiles) + depth;
    }
    const int tile = quotient((worker - each * tiles) * tiles, more);
    return each * tile + quotient(tile * more + tiles - 1, tiles) + each;
  }
  /// Where the range of a sharer begins: ranges differ by at most one k-tile and none is empty.
  __device__ __forceinline__ int start(int sharer) const {
    return static_cast<int>(static_cast<long long>(schedule_.streamed * schedule_.k_tiles) *
                            sharer / sharers_);
  }
  /// Whose range has this k-tile.
  __device__ __forceinline__ int sharer(int position) const {
    return static_cast<int>((static_cast<long long>(position + 1) * sharers_ - 1) /
                            (schedule_.streamed * schedule_.k_tiles));
  }

  const TensorSchedule& schedule_;
  int workers_, number_;
  int sharers_, sharer_ = 0;  // workers that have a part of the streamed tiles; which this is
  int position_, stop_;
};

/// Work of a product of some rows of A: with its own B, that of the number `batch`.
struct GroupedWork : TensorWork {
  int first, rows;
};

template <bool SWAP, int EXTENT>
class GroupedQueue;

/// Groups of consecutive rows of one A, each multiplied by a B of its own. EXTENT: rows of A in a
/// tile. `offsets`: the first rows of the groups, and behind the last one.
template <bool SWAP, int EXTENT>
struct RowGroups {
  using Work = GroupedWork;
  using Queue = GroupedQueue<SWAP, EXTENT>;
  const int* offsets;
  int count;

  __device__ __forceinline__ int first(const Work& work) const { return work.first; }
  __device__ __forceinline__ int rows(const Work& work, int) const { return work.rows; }
  __device__ __forceinline__ int batch_of_a(const Work&) const { return 0; }
  __device__ __forceinline__ long long offset(const Work& work, long long, int pitch) const {
    return static_cast<long long>(work.first) * pitch;
  }
};

/// Every `workers`-th tile of all groups, one group after the other; within one down the rows of A,
/// so that concurrent blocks share tiles of B in the L2 cache.
template <bool SWAP, int EXTENT>
class GroupedQueue {
 public:
  __device__ __forceinline__ GroupedQueue(const TensorSchedule& schedule, int worker, int workers,
                                          const RowGroups<SWAP, EXTENT>& groups)
      : groups_(groups),
        across_(SWAP ? schedule.tiles_m : schedule.tiles_n),
        k_tiles_(schedule.k_tiles),
        workers_(workers),
        left_(worker) {}

  /// False when nothing is left.
  __device__ __forceinline__ bool next(GroupedWork& work) {
    for (; group_ < groups_.count; ++group_) {
      const int first = groups_.offsets[group_], rows = groups_.offsets[group_ + 1] - first;
      const int along = ceil_div(rows, EXTENT);
      if (left_ < along * across_) {
        const int column = quotient(left_, along), row = left_ - column * along;
        work.batch = group_;
        work.m = SWAP ? column : row;
        work.n = SWAP ? row : column;
        work.begin = 0;
        work.end = k_tiles_;
        work.splits = 1;
        work.first = first;
        work.rows = rows;
        left_ += workers_;
        return true;
      }
      left_ -= along * across_;
    }
    return false;
  }

 private:
  const RowGroups<SWAP, EXTENT>& groups_;
  int across_, k_tiles_, workers_;
  int group_ = 0;
  int left_;  // number of the next tile, from the first of the group on
};

/// Where a ring of STAGES buffers is: the stage, and the parity of its current phase.
template <int STAGES>
struct RingPosition {
  int stage = 0;
  unsigned parity = 0;

  __device__ __forceinline__ void advance() {
    if (++stage == STAGES) {
      stage = 0;
      parity ^= 1;
    }
  }
  __device__ __forceinline__ void advance(int count) {
    const int sum = stage + count;
    parity ^= static_cast<unsigned>(sum / STAGES) & 1u;
    stage = sum % STAGES;
  }
};
