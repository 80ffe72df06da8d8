// SPDX-License-Identifier: Apache-2.0
// <cooperative_groups.h> for the host's compiler: blocks and tiles of at most a warp.
#pragma once

namespace cooperative_groups {

/// All threads of the block.
class thread_block {
 public:
  static void sync(const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    __syncthreads(file, line);
  }
  static unsigned thread_rank() { return ::tuner::context->thread_rank(); }
  static unsigned size() { return blockDim.x * blockDim.y * blockDim.z; }
  static unsigned num_threads() { return size(); }
  static dim3 group_index() { return {blockIdx.x, blockIdx.y, blockIdx.z}; }
  static dim3 thread_index() { return {threadIdx.x, threadIdx.y, threadIdx.z}; }
  static dim3 group_dim() { return {blockDim.x, blockDim.y, blockDim.z}; }
  static dim3 dim_threads() { return group_dim(); }
};

inline thread_block this_thread_block() {
  return {};
}

/// All threads of the grid, which run one block after the other: they can be counted, not joined.
class grid_group {
 public:
  __attribute__((error("grid_group::sync() is not available on the cpu backend"))) void sync()
      const;
  static unsigned long long thread_rank() {
    return block_rank() * thread_block::size() + thread_block::thread_rank();
  }
  static unsigned long long block_rank() {
    return blockIdx.x +
           gridDim.x * (blockIdx.y + static_cast<unsigned long long>(gridDim.y) * blockIdx.z);
  }
  static unsigned long long num_blocks() {
    return static_cast<unsigned long long>(gridDim.x) * gridDim.y * gridDim.z;
  }
  static unsigned long long size() { return num_blocks() * thread_block::size(); }
  static unsigned long long num_threads() { return size(); }
  static dim3 group_dim() { return {gridDim.x, gridDim.y, gridDim.z}; }
};

inline grid_group this_grid() {
  return {};
}

/// `kSize` neighbouring lanes of a warp.
template <unsigned kSize, class Parent = thread_block>
class thread_block_tile {
  static_assert(kSize <= 32 && (kSize & (kSize - 1)) == 0,
                "the cpu backend has tiles of 1, 2, 4, 8, 16 and 32 threads");

 public:
  static void sync() { __syncwarp(lanes()); }
  static unsigned thread_rank() { return ::tuner::lane() % kSize; }
  static constexpr unsigned size() { return kSize; }
  static constexpr unsigned num_threads() { return kSize; }
  static unsigned meta_group_rank() { return thread_block::thread_rank() / kSize; }
  static unsigned meta_group_size() { return (thread_block::size() + kSize - 1) / kSize; }

  template <class T>
  static T shfl(T value, int source) {
    return __shfl_sync(lanes(), value, source, kSize);
  }
  template <class T>
  static T shfl_up(T value, unsigned delta) {
    return __shfl_up_sync(lanes(), value, delta, kSize);
  }
  template <class T>
  static T shfl_down(T value, unsigned delta) {
    return __shfl_down_sync(lanes(), value, delta, kSize);
  }
  template <class T>
  static T shfl_xor(T value, int mask) {
    return __shfl_xor_sync(lanes(), value, mask, kSize);
  }
  static int any(int predicate) { return __any_sync(lanes(), predicate); }
  static int all(int predicate) { return __all_sync(lanes(), predicate); }
  static unsigned ballot(int predicate) { return __ballot_sync(lanes(), predicate) >> first(); }
  template <class T>
  static unsigned match_any(T value) {
    return __match_any_sync(lanes(), value) >> first();
  }

 private:
  static unsigned first() { return ::tuner::lane() & ~(kSize - 1); }
  static unsigned lanes() { return kSize == 32 ? ~0u : ((1u << kSize % 32) - 1) << first(); }
};

template <unsigned kSize, class Parent>
inline thread_block_tile<kSize, Parent> tiled_partition(const Parent&) {
  return {};
}

inline void sync(const thread_block& block, const char* file = __builtin_FILE(),
                 int line = __builtin_LINE()) {
  block.sync(file, line);
}
template <unsigned kSize, class Parent>
inline void sync(const thread_block_tile<kSize, Parent>& tile) {
  tile.sync();
}

__attribute__((error("coalesced_threads() is not available on the cpu backend")))
thread_block_tile<1>
coalesced_threads();

template <class T = void>
struct plus {
  template <class U>
  U operator()(U a, U b) const {
    return a + b;
  }
};
template <class T = void>
struct less {
  template <class U>
  U operator()(U a, U b) const {
    return b < a ? b : a;
  }
};
template <class T = void>
struct greater {
  template <class U>
  U operator()(U a, U b) const {
    return a < b ? b : a;
  }
};
template <class T = void>
struct bit_and {
  template <class U>
  U operator()(U a, U b) const {
    return a & b;
  }
};
template <class T = void>
struct bit_or {
  template <class U>
  U operator()(U a, U b) const {
    return a | b;
  }
};
template <class T = void>
struct bit_xor {
  template <class U>
  U operator()(U a, U b) const {
    return a ^ b;
  }
};

/// Every thread of the tile gets the same bits: each step combines the same two partial results.
template <unsigned kSize, class Parent, class T, class Operation>
inline T reduce(const thread_block_tile<kSize, Parent>& tile, T value, Operation operation) {
  for (unsigned distance = kSize / 2; distance > 0; distance /= 2) {
    const T other = tile.shfl_xor(value, static_cast<int>(distance));
    value =
        (tile.thread_rank() & distance) == 0 ? operation(value, other) : operation(other, value);
  }
  return value;
}

template <unsigned kSize, class Parent, class T, class Operation = plus<T>>
inline T inclusive_scan(const thread_block_tile<kSize, Parent>& tile, T value,
                        Operation operation = {}) {
  for (unsigned distance = 1; distance < kSize; distance *= 2) {
    const T before = tile.shfl_up(value, distance);
    if (tile.thread_rank() >= distance) value = operation(before, value);
  }
  return value;
}

/// The first thread gets T().
template <unsigned kSize, class Parent, class T, class Operation = plus<T>>
inline T exclusive_scan(const thread_block_tile<kSize, Parent>& tile, T value,
                        Operation operation = {}) {
  const T before = tile.shfl_up(inclusive_scan(tile, value, operation), 1);
  return tile.thread_rank() == 0 ? T() : before;
}

}  // namespace cooperative_groups
