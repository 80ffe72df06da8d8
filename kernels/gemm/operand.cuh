// SPDX-License-Identifier: Apache-2.0
// One operand of a product: copies from global to shared memory, and from there to registers.
#pragma once

#include "common/integers.cuh"
#include "common/vector.cuh"
#include "pipeline.cuh"

/// The type of offsets between rows of a k-tile, in elements: 64-bit where an int can overflow.
template <bool IS_64_BIT>
struct RowOffset {
  using type = int;
};
template <>
struct RowOffset<true> {
  using type = long long;
};

/// How an operand is copied from global to shared memory.
enum class CopyMethod {
  registers,  ///< loaded before and stored after the computation of a k-tile
  async,      ///< cp.async
};

/// The k-tiles of one operand: EXTENT rows of op(A) or columns of op(B), DEPTH deep along K.
///
///   K_CONTIGUOUS  the operand is contiguous along K in global memory
///   TRANSPOSE     such an operand is transposed when it is copied to shared memory
///   VEC           elements per load from global memory
///   PAD           elements of padding after each row in shared memory
///   COUNT         elements along the extent per thread
///   LANES         threads of a warp along the extent
///   STEP_K        steps of K in a fragment
///   UNROLL        unroll factor of the copies
template <class T, class Offset, bool K_CONTIGUOUS, bool TRANSPOSE, CopyMethod METHOD, int EXTENT,
          int DEPTH, int VEC, int PAD, int THREADS, int COUNT, int LANES, int STEP_K, int UNROLL>
struct Operand {
  static constexpr bool TRANSPOSED = K_CONTIGUOUS && TRANSPOSE;
  // A row in shared memory is one step of K.
  static constexpr bool ROW_IS_K_STEP = !K_CONTIGUOUS || TRANSPOSE;
  static constexpr int PITCH = (ROW_IS_K_STEP ? EXTENT : DEPTH) + PAD;
  static constexpr int ELEMENTS = (ROW_IS_K_STEP ? DEPTH : EXTENT) * PITCH;
  static constexpr int GROUP = ROW_IS_K_STEP ? vector_width<T>(COUNT) : 1;
  static_assert(PITCH * sizeof(T) % 16 == 0, "rows in shared memory are aligned to 16 bytes");

  // COPY_LANES threads copy a row of global memory, ROW_COPIES vectors each, then continue ROW_STEP
  // rows further down. A thread's vectors are at constant offsets from its first.
  static constexpr int ROWS = K_CONTIGUOUS ? EXTENT : DEPTH;
  static constexpr int COLUMNS = K_CONTIGUOUS ? DEPTH : EXTENT;
  static constexpr int WIDTH = TRANSPOSED && METHOD == CopyMethod::async ? 1 : VEC;
  static constexpr int COPY_LANES = greatest_common_divisor(THREADS, COLUMNS / WIDTH);
  static constexpr int ROW_COPIES = COLUMNS / WIDTH / COPY_LANES;
  static constexpr int ROW_STEP = THREADS / COPY_LANES;
  static constexpr int PASSES = ceil_div(ROWS, ROW_STEP);
  static_assert(COLUMNS % WIDTH == 0, "a row is a whole number of vectors");

  const T* next;    // this thread's first vector of the next k-tile
  Offset pitch;     // elements between global rows
  int row, column;  // of this thread's first vector in a k-tile
  int extent;       // from the block's first element to the end of the matrix
  Vector<T, WIDTH> in_registers[METHOD == CopyMethod::registers ? PASSES * ROW_COPIES : 1];

  __device__ __forceinline__ Operand(const T* matrix, int ld, int first, int size, int begin,
                                     int thread)
      : pitch(ld),
        row(thread / COPY_LANES),
        column(thread % COPY_LANES * WIDTH),
        extent(size - first) {
    const long long at_row = row + (K_CONTIGUOUS ? first : begin);
    next = matrix + at_row * ld + (column + (K_CONTIGUOUS ? begin : first));
  }

  /// Starts the copy of the next k-tile, by cp.async to shared memory or by loads to registers.
  /// WHOLE: all of it is inside the matrix; else the first `left_k` steps of K and `extent`
  /// elements along the extent are, and the rest is zero.
  template <bool WHOLE>
  __device__ __forceinline__ void fetch(T* k_tile, int left_k) {
    T* const to = k_tile + index_of(row, column);
#pragma unroll UNROLL
    for (int pass = 0; pass < PASSES; ++pass) {
      if (ROWS % ROW_STEP != 0 && row + pass * ROW_STEP >= ROWS) break;
#pragma unroll
      for (int copy = 0; copy < ROW_COPIES; ++copy) {
        constexpr int STRIDE = COPY_LANES * WIDTH;
        const T* const from = next + pass * ROW_STEP * pitch + copy * STRIDE;
        int count = WIDTH;
        if (!WHOLE) {
          const int rows = K_CONTIGUOUS ? extent : left_k;
          const int columns = (K_CONTIGUOUS ? left_k : extent) - column - copy * STRIDE;
          count = row + pass * ROW_STEP < rows ? min(max(columns, 0), WIDTH) : 0;
        }
        if constexpr (METHOD == CopyMethod::async) {
          copy_async<WIDTH>(to + index_of(pass * ROW_STEP, copy * STRIDE), from,
                            int(sizeof(T)) * count);
        } else {
          in_registers[pass * ROW_COPIES + copy] = load(from, count);
        }
      }
    }
    next += K_CONTIGUOUS ? DEPTH : DEPTH * pitch;
  }

  /// Stores what `fetch` loaded to registers.
  __device__ __forceinline__ void store(T* k_tile) const {
    if constexpr (METHOD == CopyMethod::registers) {
      T* const to = k_tile + index_of(row, column);
#pragma unroll
      for (int pass = 0; pass < PASSES; ++pass) {
        if (ROWS % ROW_STEP != 0 && row + pass * ROW_STEP >= ROWS) break;
#pragma unroll
        for (int copy = 0; copy < ROW_COPIES; ++copy) {
          const auto& vector = in_registers[pass * ROW_COPIES + copy];
          T* const at = to + index_of(pass * ROW_STEP, copy * COPY_LANES * WIDTH);
          if constexpr (TRANSPOSED) {
#pragma unroll
            for (int v = 0; v < WIDTH; ++v) at[v * PITCH] = vector.at[v];
          } else {
            *reinterpret_cast<Vector<T, WIDTH>*>(at) = vector;
          }
        }
      }
    }
  }

  /// A thread's elements for STEP_K steps of K.
  struct Fragment {
    T at[STEP_K][COUNT];
  };

  /// Where a thread's part of a k-tile starts: at step k, for lane `lane` of LANES that start at
  /// `first` along the extent.
  static __device__ __forceinline__ int start(int first, int lane, int k) {
    const int along = first + lane * GROUP;
    return ROW_IS_K_STEP ? k * PITCH + along : along * PITCH + k;
  }
  /// The offset of k steps along K.
  static __device__ __forceinline__ constexpr int distance(int k) {
    return ROW_IS_K_STEP ? k * PITCH : k;
  }

  /// Reads the fragment k steps after `from`, a result of `start`.
  static __device__ __forceinline__ Fragment read(const T* from, int k) {
    Fragment fragment;
    if constexpr (ROW_IS_K_STEP) {
#pragma unroll
      for (int step = 0; step < STEP_K; ++step) {
#pragma unroll
        for (int i = 0; i < COUNT; i += GROUP) {
          const auto group =
              *reinterpret_cast<const Vector<T, GROUP>*>(from + (k + step) * PITCH + i * LANES);
#pragma unroll
          for (int g = 0; g < GROUP; ++g) fragment.at[step][i + g] = group.at[g];
        }
      }
    } else {
#pragma unroll
      for (int i = 0; i < COUNT; ++i) {
        const auto steps =
            *reinterpret_cast<const Vector<T, STEP_K>*>(from + i * LANES * PITCH + k);
#pragma unroll
        for (int step = 0; step < STEP_K; ++step) fragment.at[step][i] = steps.at[step];
      }
    }
    return fragment;
  }

  /// The position along the extent of a thread's i-th element, relative to its warp's first.
  static __device__ __forceinline__ constexpr int offset(int lane, int i) {
    return i / GROUP * (LANES * GROUP) + lane * GROUP + i % GROUP;
  }

 private:
  static __device__ __forceinline__ constexpr int index_of(int row, int column) {
    return TRANSPOSED ? column * PITCH + row : row * PITCH + column;
  }

  static __device__ __forceinline__ Vector<T, WIDTH> load(const T* from, int count) {
    if (count == WIDTH) return *reinterpret_cast<const Vector<T, WIDTH>*>(from);
    Vector<T, WIDTH> some;
#pragma unroll
    for (int v = 0; v < WIDTH; ++v) some.at[v] = v < count ? from[v] : T(0);
    return some;
  }
};
