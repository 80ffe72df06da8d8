// SPDX-License-Identifier: Apache-2.0
// One operand of a product on its way from global memory through shared memory into registers.
#pragma once

#include "pipeline.cuh"
#include "vector.cuh"

/// What holds the distance between two rows of a slab, in floats: FAR where an int could overflow.
template <bool FAR>
struct Distance {
  using type = int;
};
template <>
struct Distance<true> {
  using type = long long;
};

/// How an operand gets from global to shared memory.
enum class Way {
  registers,  ///< loads, and stores once the slab before is computed
  async,      ///< cp.async
};

/// The slabs of one operand: EXTENT rows of op(A) or columns of op(B), DEPTH deep along K.
/// K_CONTIGUOUS: neighbours along K are neighbours in global memory; in shared memory only when
/// they are not TURNed on the way. VEC floats are loaded at once; PAD floats follow each row in
/// shared memory. A thread computes with COUNT elements of the extent, LANES threads side by side.
template <class Offset, bool K_CONTIGUOUS, bool TURN, Way WAY, int EXTENT, int DEPTH, int VEC,
          int PAD, int THREADS, int COUNT, int LANES, int STEP_K, int UNROLL>
struct Operand {
  static constexpr bool TURNED = K_CONTIGUOUS && TURN;
  static constexpr bool BY_K = !K_CONTIGUOUS || TURN;  // a shared row is one step of K
  static constexpr int PITCH = (BY_K ? EXTENT : DEPTH) + PAD;
  static constexpr int FLOATS = (BY_K ? DEPTH : EXTENT) * PITCH;
  static constexpr int GROUP = BY_K ? vector_width(COUNT) : 1;
  static_assert(PITCH % 4 == 0, "rows begin on 16 bytes");

  // Copying: COPY_LANES threads share a global row, each with ROW_COPIES vectors of it, and go on
  // ROW_STEP rows further down. So a thread's vectors lie at constant distances from its first.
  static constexpr int ROWS = K_CONTIGUOUS ? EXTENT : DEPTH;
  static constexpr int COLUMNS = K_CONTIGUOUS ? DEPTH : EXTENT;
  static constexpr int WIDTH = TURNED && WAY == Way::async ? 1 : VEC;
  static constexpr int COPY_LANES = greatest_common_divisor(THREADS, COLUMNS / WIDTH);
  static constexpr int ROW_COPIES = COLUMNS / WIDTH / COPY_LANES;
  static constexpr int ROW_STEP = THREADS / COPY_LANES;
  static constexpr int PASSES = ceil_div(ROWS, ROW_STEP);
  static_assert(COLUMNS % WIDTH == 0, "whole vectors a row");

  const float* next;  // this thread's first vector of the next slab to fetch
  Offset pitch;       // floats between global rows
  int row, column;    // of this thread's first vector in a slab
  int extent;         // how much of the extent exists, from the block's first element
  Floats<WIDTH> held[WAY == Way::registers ? PASSES * ROW_COPIES : 1];

  __device__ __forceinline__ Operand(const float* matrix, int ld, int first, int size, int begin,
                                     int thread)
      : pitch(ld),
        row(thread / COPY_LANES),
        column(thread % COPY_LANES * WIDTH),
        extent(size - first) {
    const long long at_row = row + (K_CONTIGUOUS ? first : begin);
    next = matrix + at_row * ld + (column + (K_CONTIGUOUS ? begin : first));
  }

  /// Brings the next slab into shared memory, or on its way there. WHOLE: all of it exists; else
  /// the first `left_k` of its DEPTH do.
  template <bool WHOLE>
  __device__ __forceinline__ void fetch(float* slab, int left_k) {
    float* const to = slab + place(row, column);
#pragma unroll UNROLL
    for (int pass = 0; pass < PASSES; ++pass) {
      if (ROWS % ROW_STEP != 0 && row + pass * ROW_STEP >= ROWS) break;
#pragma unroll
      for (int copy = 0; copy < ROW_COPIES; ++copy) {
        constexpr int APART = COPY_LANES * WIDTH;
        const float* const from = next + pass * ROW_STEP * pitch + copy * APART;
        int floats = WIDTH;
        if (!WHOLE) {
          const int rows = K_CONTIGUOUS ? extent : left_k;
          const int columns = (K_CONTIGUOUS ? left_k : extent) - column - copy * APART;
          floats = row + pass * ROW_STEP < rows ? min(max(columns, 0), WIDTH) : 0;
        }
        if constexpr (WAY == Way::async) {
          copy_async<WIDTH>(to + place(pass * ROW_STEP, copy * APART), from, 4 * floats);
        } else {
          held[pass * ROW_COPIES + copy] = load(from, floats);
        }
      }
    }
    next += K_CONTIGUOUS ? DEPTH : DEPTH * pitch;
  }

  /// Puts what `fetch` left in registers into shared memory.
  __device__ __forceinline__ void store(float* slab) const {
    if constexpr (WAY == Way::registers) {
      float* const to = slab + place(row, column);
#pragma unroll
      for (int pass = 0; pass < PASSES; ++pass) {
        if (ROWS % ROW_STEP != 0 && row + pass * ROW_STEP >= ROWS) break;
#pragma unroll
        for (int copy = 0; copy < ROW_COPIES; ++copy) {
          const auto& floats = held[pass * ROW_COPIES + copy];
          float* const at = to + place(pass * ROW_STEP, copy * COPY_LANES * WIDTH);
          if constexpr (TURNED) {
#pragma unroll
            for (int v = 0; v < WIDTH; ++v) at[v * PITCH] = floats.at[v];
          } else {
            *reinterpret_cast<Floats<WIDTH>*>(at) = floats;
          }
        }
      }
    }
  }

  /// A thread's elements at STEP_K steps of K.
  struct Fragment {
    float at[STEP_K][COUNT];
  };

  /// Where in a slab the part of a thread begins: at k along K, at `first` along the extent where
  /// the LANES begin of which it is number `lane`.
  static __device__ __forceinline__ int start(int first, int lane, int k) {
    const int along = first + lane * GROUP;
    return BY_K ? k * PITCH + along : along * PITCH + k;
  }
  /// How far apart two places are that differ by k along K.
  static __device__ __forceinline__ constexpr int distance(int k) { return BY_K ? k * PITCH : k; }

  /// Reads the fragment k further along K than `from`, a place of `start`.
  static __device__ __forceinline__ Fragment read(const float* from, int k) {
    Fragment fragment;
    if constexpr (BY_K) {
#pragma unroll
      for (int step = 0; step < STEP_K; ++step) {
#pragma unroll
        for (int i = 0; i < COUNT; i += GROUP) {
          const auto group =
              *reinterpret_cast<const Floats<GROUP>*>(from + (k + step) * PITCH + i * LANES);
#pragma unroll
          for (int g = 0; g < GROUP; ++g) fragment.at[step][i + g] = group.at[g];
        }
      }
    } else {
#pragma unroll
      for (int i = 0; i < COUNT; ++i) {
        const auto steps = *reinterpret_cast<const Floats<STEP_K>*>(from + i * LANES * PITCH + k);
#pragma unroll
        for (int step = 0; step < STEP_K; ++step) fragment.at[step][i] = steps.at[step];
      }
    }
    return fragment;
  }

  /// Where a thread's i-th element lies along the extent, from the first of its warp.
  static __device__ __forceinline__ constexpr int offset(int lane, int i) {
    return i / GROUP * (LANES * GROUP) + lane * GROUP + i % GROUP;
  }

 private:
  static __device__ __forceinline__ constexpr int place(int row, int column) {
    return TURNED ? column * PITCH + row : row * PITCH + column;
  }

  static __device__ __forceinline__ Floats<WIDTH> load(const float* from, int floats) {
    if (floats == WIDTH) return *reinterpret_cast<const Floats<WIDTH>*>(from);
    Floats<WIDTH> some;
#pragma unroll
    for (int v = 0; v < WIDTH; ++v) some.at[v] = v < floats ? from[v] : 0.0f;
    return some;
  }
};
