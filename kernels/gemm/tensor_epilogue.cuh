// SPDX-License-Identifier: Apache-2.0
// The end of a product on tensor cores: sums over blocks of a cluster, and C from accumulators.
#pragma once

#include "common/cluster.cuh"
#include "common/tensor_copy.cuh"
#include "common/vector.cuh"
#include "common/warpgroup.cuh"
#include "common/wgmma.cuh"
#include "epilogue.cuh"

/// The matrix that a product is stored to. With TRANSPOSED the computed product is its transpose.
/// S: the type of sums and factors.
template <class T, class S, bool TRANSPOSED>
struct TensorOutput {
  T* first;
  int rows, columns;  ///< of the computed product
  int pitch;          ///< leading dimension of C
  S alpha, beta;

  __device__ __forceinline__ bool contains(int row, int column) const {
    return row < rows && column < columns;
  }
  __device__ __forceinline__ long long offset(int row, int column) const {
    return TRANSPOSED ? static_cast<long long>(column) * pitch + row
                      : static_cast<long long>(row) * pitch + column;
  }
  __device__ __forceinline__ T* at(int row, int column) const {
    return first + offset(row, column);
  }
  /// sum = alpha * sum + beta * C, of a thread's part of 64 rows from `row0` and COLUMNS columns
  /// from `column0`. One branch for all elements: most products do not read C.
  template <int COLUMNS>
  __device__ __forceinline__ void apply_factors(Accumulators<COLUMNS, S>& sum, int row0,
                                                int column0) const {
    if (__builtin_expect(beta == S(0), 1)) {
      if (alpha == S(1)) return;
#pragma unroll
      for (S& each : sum.at) each *= alpha;
      return;
    }
    for_each<true>(sum, row0, column0, [&](S& each, int row, int column) {
      each = alpha * each + beta * static_cast<S>(*at(row, column));
    });
  }
  /// Applies what follows the factors. In a whole tile no load depends on a comparison, so that
  /// rows share those of a bias.
  template <int COLUMNS, class What>
  __device__ __forceinline__ void apply(const What& epilogue, Accumulators<COLUMNS, S>& sum,
                                        int row0, int column0) const {
    if constexpr (!What::IS_NONE) {
      const auto finish = [&](S& each, int row, int column) {
        each = epilogue.apply(each, TRANSPOSED ? column : row, TRANSPOSED ? row : column,
                              offset(row, column));
      };
      if (row0 + 64 <= rows && column0 + COLUMNS <= columns) {
        for_each<false>(sum, row0, column0, finish);
      } else {
        for_each<true>(sum, row0, column0, finish);
      }
    }
  }
  /// Both, of one element; of one that does not lie in C anything.
  template <class What>
  __device__ __forceinline__ S element(const What& epilogue, S sum, int row, int column) const {
    if (!contains(row, column)) return sum;
    sum *= alpha;
    if (beta != S(0)) sum += beta * static_cast<S>(*at(row, column));
    if constexpr (!What::IS_NONE) {
      sum = epilogue.apply(sum, TRANSPOSED ? column : row, TRANSPOSED ? row : column,
                           offset(row, column));
    }
    return sum;
  }

 private:
  /// Calls what(sum, row, column) of each element; CHECKED: of those that lie in C.
  template <bool CHECKED, int COLUMNS, class What>
  __device__ __forceinline__ void for_each(Accumulators<COLUMNS, S>& sum, int row0, int column0,
                                           const What& what) const {
    const int first_row = row0 + threadIdx.x % WARPGROUP / 32 * 16 + threadIdx.x % 32 / 4;
    const int first_column = column0 + threadIdx.x % 4 * 2;
#pragma unroll
    for (int i = 0; i < Accumulators<COLUMNS, S>::COUNT; ++i) {
      const int row = first_row + i / 2 % 2 * 8, column = first_column + i / 4 * 8 + i % 2;
      if (!CHECKED || contains(row, column)) what(sum.at[i], row, column);
    }
  }
};

/// Two numbers, each rounded once.
template <class T, class S>
__device__ __forceinline__ Vector<T, 2> rounded_pair(S first, S second) {
#ifndef TUNER_CPU_BACKEND
  if constexpr (sizeof(T) == 2) {  // one instruction, which the compiler does not make of two
    union {
      unsigned word;
      Vector<T, 2> pair;
    } rounded;
    if constexpr (IsBf16<T>::value) {
      asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(rounded.word) : "f"(second), "f"(first));
    } else {
      asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(rounded.word) : "f"(second), "f"(first));
    }
    return rounded.pair;
  }
#endif
  return {{static_cast<T>(first), static_cast<T>(second)}};
}

/// Transposes 4x4 words among 4 neighbouring lanes: word i of lane j becomes word j of lane i.
__device__ __forceinline__ void transpose_quad(unsigned (&word)[4], int lane) {
#pragma unroll
  for (int distance = 1; distance <= 2; distance *= 2) {
    const bool is_upper = (lane & distance) != 0;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      if ((i & distance) != 0) continue;
      const unsigned sent = is_upper ? word[i] : word[i + distance];
      const unsigned received = __shfl_xor_sync(0xffffffffu, sent, distance);
      if (is_upper) {
        word[i] = received;
      } else {
        word[i + distance] = received;
      }
    }
  }
}

/// Stores the elements of a pair that lie in C. VECTOR >= 2: they are aligned together.
template <int VECTOR, class T, class S, bool TRANSPOSED>
__device__ __forceinline__ void store_pair(const TensorOutput<T, S, TRANSPOSED>& c, int row,
                                           int column, const Vector<T, 2>& pair) {
  if (!TRANSPOSED && VECTOR >= 2 && c.contains(row, column + 1)) {
    *reinterpret_cast<Vector<T, 2>*>(c.at(row, column)) = pair;
    return;
  }
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    if (c.contains(row, column + i)) *c.at(row, column + i) = pair.at[i];
  }
}

/// Stores a thread's part of 64 rows from `row0` and COLUMNS columns from `column0` of the product.
/// VECTOR: elements of C that are aligned together. All threads of the warpgroup call it.
template <int VECTOR, int COLUMNS, class T, class S, bool TRANSPOSED>
__device__ __forceinline__ void store_product(const Accumulators<COLUMNS, S>& sum,
                                              const TensorOutput<T, S, TRANSPOSED>& c, int row0,
                                              int column0) {
  const int lane = threadIdx.x % 32;
  const int first_row = row0 + threadIdx.x % WARPGROUP / 32 * 16 + lane / 4;
  const int first_column = column0 + 2 * (lane % 4);
  constexpr bool WIDE =
      !TRANSPOSED && sizeof(T) == 2 && VECTOR == 8 && COLUMNS >= 16;  // stores 16 bytes
  // One branch for the whole tile: instructions that most tiles do not need are not between others,
  // which a first tile waits for.
  if constexpr (WIDE) {
    if (column0 + COLUMNS <= c.columns) {
      // Pieces of 8 columns, first those of the upper row, then those of the lower one. Four lanes
      // exchange four pieces, so that each stores one; two may be left.
      constexpr int OF_ROW = COLUMNS / 8, PIECES = 2 * OF_ROW, WHOLE = PIECES / 4 * 4;
      const auto rounded = [&](int piece) {
        const S* const pair = &sum.at[4 * (piece % OF_ROW) + 2 * (piece / OF_ROW)];
        return rounded_pair<T>(pair[0], pair[1]);
      };
#pragma unroll
      for (int first = 0; first < WHOLE; first += 4) {
        unsigned word[4];
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          const Vector<T, 2> pair = rounded(first + i);
          word[i] = *reinterpret_cast<const unsigned*>(&pair);
        }
        transpose_quad(word, lane);
        const int piece = first + lane % 4;
        const bool is_lower = first >= OF_ROW || (first + 3 >= OF_ROW && piece >= OF_ROW);
        const int row = first_row + (is_lower ? 8 : 0);
        if (row < c.rows) {
          *reinterpret_cast<Vector<unsigned, 4>*>(
              c.at(row, column0 + 8 * (piece - (is_lower ? OF_ROW : 0)))) = {
              {word[0], word[1], word[2], word[3]}};
        }
      }
#pragma unroll
      for (int piece = WHOLE; piece < PIECES; ++piece) {
        store_pair<VECTOR>(c, first_row + 8, first_column + 8 * (piece - OF_ROW), rounded(piece));
      }
      return;
    }
  }
#pragma unroll
  for (int h = 0; h < 2; ++h) {
#pragma unroll
    for (int j = 0; j < COLUMNS / 8; ++j) {
      const S* const pair = &sum.at[4 * j + 2 * h];
      store_pair<VECTOR>(c, first_row + 8 * h, first_column + 8 * j,
                         rounded_pair<T>(pair[0], pair[1]));
    }
  }
}

/// Stores totals of a warpgroup's sums of rows from `row0` and COLUMNS columns from `column0`, by
/// their numbers: each thread's of 64 rows after the other, 4 sums of every thread at a time.
template <int VECTOR, int COLUMNS, class T, class S, bool TRANSPOSED, class What>
struct StoreTotals {
  const TensorOutput<T, S, TRANSPOSED>& c;
  const What& what;
  int row0, column0;

  /// `number`: of the first, even.
  template <int N>
  __device__ __forceinline__ void operator()(const S (&total)[N], int number) const {
#pragma unroll
    for (int i = 0; i < N; i += 2) {
      const int vector = number / (4 * WARPGROUP), thread = number / 4 % WARPGROUP;
      const int row = row0 + vector / (COLUMNS / 8) * 64 + thread / 32 * 16 + thread % 32 / 4 +
                      ((number + i) % 4 == 0 ? 0 : 8);
      const int column = column0 + vector % (COLUMNS / 8) * 8 + 2 * (thread % 4);
      store_pair<VECTOR>(c, row, column,
                         rounded_pair<T>(c.element(what, total[i], row, column),
                                         c.element(what, total[i + 1], row, column + 1)));
    }
  }
};

/// Where a warpgroup stores its part of a tile through shared memory by TMA: in boxes of 64 rows of
/// 128 bytes, BUFFERS of them in flight. One with BUFFERS == 0 has no memory.
template <class T, int BUFFERS>
struct TensorStaging {
  static constexpr int WIDTH = 128 / sizeof(T);  // columns of a box
  static constexpr int BOX_BYTES = 64 * 128;
  static constexpr int BYTES = BUFFERS * BOX_BYTES;

  unsigned buffers;  ///< shared memory, aligned to 1024 bytes
  const TensorMap3& map;
  int barrier;       ///< of the warpgroup
  BoxStores stores;  ///< of its first thread
  int next = 0;      ///< the buffer of the next box

  /// As store_product.
  template <int COLUMNS, class S>
  __device__ __forceinline__ void store_product(const Accumulators<COLUMNS, S>& sum,
                                                const TensorOutput<T, S, false>& c, int row0,
                                                int column0, int batch) {
    static_assert(COLUMNS % WIDTH == 0, "boxes lie inside of a tile");
    if (column0 + COLUMNS > c.columns) {  // a box would reach beyond the end of a row
      ::store_product<2>(sum, c, row0, column0);
      return;
    }
    if (row0 >= c.rows) return;
    const bool is_first = threadIdx.x % WARPGROUP == 0;
    const int lane = threadIdx.x % 32;
    const int first_row = threadIdx.x % WARPGROUP / 32 * 16 + lane / 4;
#pragma unroll
    for (int box = 0; box < COLUMNS / WIDTH; ++box) {
      if (is_first) stores.template await_read<BUFFERS - 1>();
      sync_warpgroup(barrier);
      const unsigned buffer = buffers + next * BOX_BYTES;
#pragma unroll
      for (int h = 0; h < 2; ++h) {
        const int row = first_row + 8 * h;
        // Swizzled as swizzled_128: the row xor the 16-byte piece.
        const unsigned row_at = buffer + row * 128 + (row % 8 << 4);
#pragma unroll
        for (int j = 0; j < WIDTH / 8; ++j) {
          const int byte = (8 * j + 2 * (lane % 4)) * static_cast<int>(sizeof(T));
          const S* const pair = &sum.at[4 * (box * (WIDTH / 8) + j) + 2 * h];
          store_to_shared((row_at ^ (byte & 0x70)) + byte % 16, rounded_pair<T>(pair[0], pair[1]));
        }
      }
      publish_to_tma();
      sync_warpgroup(barrier);
      if (is_first) {
        stores.template store<BOX_BYTES>(buffer, map, column0 + box * WIDTH, row0, batch);
      }
      next = next + 1 < BUFFERS ? next + 1 : 0;
    }
  }

  /// Waits until the boxes have been read: before the block ends.
  __device__ __forceinline__ void finish() {
    if (threadIdx.x % WARPGROUP == 0) stores.template await_read<0>();
  }
};
template <class T>
struct TensorStaging<T, 0> {
  static constexpr int BYTES = 0;
  unsigned buffers;
  const TensorMap3& map;
  int barrier;
};

/// C = beta * C and what follows, by all threads of the grid: the product where alpha is 0.
template <class T, class S, class What>
__device__ __forceinline__ void scale_output(T* c, int rows, int columns, int pitch,
                                             long long stride, int batches, S beta,
                                             const What& epilogue) {
  const long long threads = static_cast<long long>(gridDim.x) * blockDim.x;
  const long long count = static_cast<long long>(batches) * rows * columns;
  for (long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x; i < count;
       i += threads) {
    const int row = static_cast<int>(i / columns % rows), column = static_cast<int>(i % columns);
    const long long offset =
        i / columns / rows * stride + static_cast<long long>(row) * pitch + column;
    S value = beta == S(0) ? S(0) : beta * static_cast<S>(c[offset]);
    if constexpr (!What::IS_NONE) value = epilogue.apply(value, row, column, offset);
    c[offset] = static_cast<T>(value);
  }
}

/// Split-K in a cluster: adds the sums of its BLOCKS blocks in the order of their ranks. The block
/// with rank r gets those of the r-th part of the columns. `shared`: memory for the sums of this
/// warpgroup, at the same address in every block; it may be written by now. Other threads of the
/// cluster call sync_cluster() once meanwhile; it must be called again before the memory changes.
template <int BLOCKS, int PARTS, int COLUMNS, class S>
__device__ __forceinline__ void add_up_cluster(const Accumulators<COLUMNS, S> (&sum)[PARTS],
                                               Accumulators<COLUMNS / BLOCKS, S> (&own)[PARTS],
                                               unsigned shared, int rank) {
  constexpr int VECTORS = COLUMNS / 8, OWN = VECTORS / BLOCKS;  // of a thread and part
  const unsigned first = shared + 16 * (threadIdx.x % WARPGROUP);
#pragma unroll
  for (int part = 0; part < PARTS; ++part) {
#pragma unroll
    for (int i = 0; i < VECTORS; ++i) {
      const S* const at = &sum[part].at[4 * i];
      store_to_shared(first + (part * VECTORS + i) * (16 * WARPGROUP),
                      Vector<S, 4>{{at[0], at[1], at[2], at[3]}});
    }
  }
  sync_cluster();
#pragma unroll
  for (int part = 0; part < PARTS; ++part) {
#pragma unroll
    for (int i = 0; i < OWN; ++i) {
      Vector<S, 4> of_block[BLOCKS];
#pragma unroll
      for (int block = 0; block < BLOCKS; ++block) {
        of_block[block] = load_from_rank<Vector<S, 4> >(
            first + (part * VECTORS + rank * OWN + i) * (16 * WARPGROUP), block);
      }
#pragma unroll
      for (int v = 0; v < 4; ++v) {
        S& total = own[part].at[4 * i + v];
        total = 0;
#pragma unroll
        for (int block = 0; block < BLOCKS; ++block) total += of_block[block].at[v];
      }
    }
  }
}
