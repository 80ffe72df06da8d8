// SPDX-License-Identifier: Apache-2.0
// out[y][x] = sum over v, u < F of filter[v][u] * in[y + v][x + u] in single precision, row-major:
// out is H x W, in (H + F - 1) x (W + F - 1), filter F x F.
//
// A thread computes a tile of TILE_Y x TILE_X elements of out in registers. It loops over the rows
// of in that the tile needs, reads its part of each row once, and adds the products to the TILE_Y
// rows of sums. The middle rows of in contribute to all rows of sums; this loop is unrolled by
// UNROLL. The first and last rows contribute to some only, which needs comparisons. UNROLL 0: all
// rows are unrolled, without comparisons.
//
// INPUT 0: rows of in are read from global memory through the read-only cache. 1: the block first
// copies its part of in to shared memory through registers; 2: by cp.async.
//
// FILTER_SHARED false: coefficients are read from the kernel parameters in constant memory. Where
// the index is a compile-time constant, that is with UNROLL 0, they are operands of the
// multiply-add instruction. true: the block first copies the filter to shared memory.
//
// Grid (ceil(W / (BLOCK_X * TILE_X)), ceil(H / (BLOCK_Y * TILE_Y))), block (BLOCK_X, BLOCK_Y),
// dynamic shared memory as in Shape. Rows of in and out are aligned to VEC floats.

#include "access.cuh"
#include "filter.cuh"

template <int F, int BLOCK_X, int BLOCK_Y, int TILE_X, int TILE_Y>
struct Shape {
  static constexpr int THREADS = BLOCK_X * BLOCK_Y;
  static constexpr int OUT_COLUMNS = BLOCK_X * TILE_X, OUT_ROWS = BLOCK_Y * TILE_Y;
  static constexpr int COLUMNS = OUT_COLUMNS + F - 1, ROWS = OUT_ROWS + F - 1;
  /// Floats per read of a thread, and floats that it reads of a row.
  static constexpr int READ = TILE_X < 4 ? TILE_X : 4;
  static constexpr int REACH = align_up(TILE_X + F - 1, READ);
  /// Floats from one row in shared memory to the next: whole groups of swizzled vectors.
  static constexpr int PITCH = align_up(OUT_COLUMNS - TILE_X + REACH, TILE_X < 4 ? 4 : TILE_X);
  static constexpr int FILTER_PITCH = align_up(F, 4);
  static constexpr int FILTER = F * FILTER_PITCH;
};

/// The index of a column in a row of shared memory. Neighbouring threads read vectors that are
/// TILE_X floats apart; vectors are swizzled so that 8 threads access different banks.
template <int TILE_X, bool SWIZZLE>
__device__ __forceinline__ int place(int column) {
  if constexpr (!SWIZZLE || TILE_X <= 4) return column;
  const int vector = column / 4;
  return (vector ^ (vector / 8 % (TILE_X / 4))) * 4 + column % 4;
}

/// Copies the filter to shared memory, with rows FILTER_PITCH floats apart. Padding is not written.
template <class Shape, int F>
__device__ __forceinline__ void stage_filter(float* to, const Filter<F>& filter) {
  const int thread = threadIdx.y * blockDim.x + threadIdx.x;
  for (int i = thread; i < F * F; i += Shape::THREADS) {
    to[i / F * Shape::FILTER_PITCH + i % F] = filter.at[i];
  }
}

/// Copies the block's part of in to shared memory, a row per warp, in vectors of VEC. Elements
/// outside in are zero.
template <class Shape, int VEC, int TILE_X, int INPUT, bool SWIZZLE>
__device__ __forceinline__ void stage_input(float* to, const float* from, int pitch, int rows,
                                            int columns) {
  const int thread = threadIdx.y * blockDim.x + threadIdx.x;
  const bool whole = rows >= Shape::ROWS && columns >= Shape::COLUMNS;
  for (int row = thread / 32; row < Shape::ROWS; row += Shape::THREADS / 32) {
    const float* const source = from + static_cast<long long>(row) * pitch;
#pragma unroll
    for (int first = 0; first < Shape::COLUMNS; first += 32 * VEC) {
      const int column = first + thread % 32 * VEC;
      if (column >= Shape::COLUMNS) continue;
      const bool exists = whole || (row < rows && column < columns);
      float* const target = to + row * Shape::PITCH + place<TILE_X, SWIZZLE>(column);
      copy<INPUT == 2, VEC>(target, exists ? source + column : from, exists);
    }
  }
}

/// Reads a thread's part of a row of in from shared memory.
template <class Shape, int TILE_X, bool SWIZZLE>
struct SharedRows {
  const float* rows;  ///< the thread's first row, at the block's first column
  int column;

  __device__ __forceinline__ void read(int row, float (&values)[Shape::REACH]) const {
    constexpr int READ = Shape::READ;
#pragma unroll
    for (int i = 0; i < Shape::REACH; i += READ) {
      const auto vector = *reinterpret_cast<const Floats<READ>*>(
          rows + row * Shape::PITCH + place<TILE_X, SWIZZLE>(column + i));
#pragma unroll
      for (int j = 0; j < READ; ++j) values[i + j] = vector.at[j];
    }
  }
};

/// As SharedRows, from global memory through the read-only cache. Elements outside in are zero.
template <class Shape, int F, int VEC, int TILE_X>
struct GlobalRows {
  const float* from;  ///< the thread's first element
  int pitch, rows, columns;

  __device__ __forceinline__ void read(int row, float (&values)[Shape::REACH]) const {
    constexpr int READ = VEC < Shape::READ ? VEC : Shape::READ;
    const float* const source = from + static_cast<long long>(row) * pitch;
#pragma unroll
    for (int i = 0; i < Shape::REACH; i += READ) {
      const bool exists = row < rows && i < columns && i < TILE_X + F - 1;
      const auto vector = exists ? load_constant<READ>(source + i) : Floats<READ>{};
#pragma unroll
      for (int j = 0; j < READ; ++j) values[i + j] = vector.at[j];
    }
  }
};

/// Reads coefficients from shared memory or from the kernel parameters.
template <class Shape, int F, bool SHARED>
struct Coefficients {
  const Filter<F>& passed;
  const float* staged;

  /// Up to four coefficients of a row, from column `first` on.
  __device__ __forceinline__ Floats<4> read(int row, int first) const {
    if constexpr (SHARED) {
      return *reinterpret_cast<const Floats<4>*>(staged + row * Shape::FILTER_PITCH + first);
    } else {
      Floats<4> weights;
#pragma unroll
      for (int i = 0; i < 4 && first + i < F; ++i) weights.at[i] = passed.at[row * F + first + i];
      return weights;
    }
  }
};

/// a * b + c, rounded once (FUSED) or twice.
template <bool FUSED>
__device__ __forceinline__ float multiply_add(float a, float b, float c) {
  if constexpr (FUSED) return a * b + c;
  return __fadd_rn(__fmul_rn(a, b), c);
}

/// Adds the products of a row of in and a row of the filter to a row of sums.
template <class Shape, int F, int TILE_X, bool FUSED, class Weights>
__device__ __forceinline__ void add_products(float (&sums)[TILE_X],
                                             const float (&values)[Shape::REACH],
                                             const Weights& filter, int row) {
#pragma unroll
  for (int first = 0; first < F; first += 4) {
    const Floats<4> weights = filter.read(row, first);
#pragma unroll
    for (int i = 0; i < 4 && first + i < F; ++i) {
#pragma unroll
      for (int x = 0; x < TILE_X; ++x) {
        sums[x] = multiply_add<FUSED>(weights.at[i], values[first + i + x], sums[x]);
      }
    }
  }
}

/// The sums of a thread; each row of in is read once.
template <class Shape, int F, int TILE_X, int TILE_Y, int UNROLL, bool FUSED, class Rows,
          class Weights>
__device__ __forceinline__ void convolve(float (&sums)[TILE_Y][TILE_X], const Rows& rows,
                                         const Weights& filter) {
  constexpr int FIRST = TILE_Y - 1 < F ? TILE_Y - 1 : F;  // the first middle row
  const auto some = [&](int row) {
    float values[Shape::REACH];
    rows.read(row, values);
#pragma unroll
    for (int y = 0; y < TILE_Y; ++y) {
      if (y <= row && row < y + F) {
        add_products<Shape, F, TILE_X, FUSED>(sums[y], values, filter, row - y);
      }
    }
  };
  if constexpr (UNROLL == 0) {
#pragma unroll
    for (int row = 0; row < F + TILE_Y - 1; ++row) some(row);
  } else {
#pragma unroll 1
    for (int row = 0; row < FIRST; ++row) some(row);
#pragma unroll(UNROLL)
    for (int row = FIRST; row < F; ++row) {
      float values[Shape::REACH];
      rows.read(row, values);
#pragma unroll
      for (int y = 0; y < TILE_Y; ++y) {
        add_products<Shape, F, TILE_X, FUSED>(sums[y], values, filter, row - y);
      }
    }
#pragma unroll 1
    for (int row = F; row < F + TILE_Y - 1; ++row) some(row);
  }
}

template <int F, int VEC, int BLOCK_X, int BLOCK_Y, int TILE_X, int TILE_Y, int UNROLL, int INPUT,
          bool SWIZZLE, bool FILTER_SHARED, bool FUSED>
__global__ void __launch_bounds__(BLOCK_X* BLOCK_Y)
    convolution_tiled(int H, int W, int, const float* __restrict__ in,
                      const __grid_constant__ Filter<F> filter, float* __restrict__ out) {
  using Shape = Shape<F, BLOCK_X, BLOCK_Y, TILE_X, TILE_Y>;
  extern __shared__ __align__(16) float shared[];
  float* const tile = shared + (FILTER_SHARED ? Shape::FILTER : 0);

  const int x0 = blockIdx.x * Shape::OUT_COLUMNS, y0 = blockIdx.y * Shape::OUT_ROWS;
  const int pitch = W + F - 1;
  const float* const from = in + static_cast<long long>(y0) * pitch + x0;
  if constexpr (FILTER_SHARED) stage_filter<Shape, F>(shared, filter);
  if constexpr (INPUT > 0) {
    stage_input<Shape, VEC, TILE_X, INPUT, SWIZZLE>(tile, from, pitch, H + F - 1 - y0, pitch - x0);
  }
  if constexpr (INPUT == 2) await_copies();
  if constexpr (FILTER_SHARED || INPUT > 0) __syncthreads();

  const int column = threadIdx.x * TILE_X, row = threadIdx.y * TILE_Y;
  const int columns = W - x0 - column,
            rows = H - y0 - row;  // from the thread's first one to the edge
  if (columns <= 0 || rows <= 0) return;
  float sums[TILE_Y][TILE_X] = {};
  const Coefficients<Shape, F, FILTER_SHARED> coefficients{filter, shared};
  if constexpr (INPUT > 0) {
    const SharedRows<Shape, TILE_X, SWIZZLE> input{tile + row * Shape::PITCH, column};
    convolve<Shape, F, TILE_X, TILE_Y, UNROLL, FUSED>(sums, input, coefficients);
  } else {
    const GlobalRows<Shape, F, VEC, TILE_X> input{
        from + static_cast<long long>(row) * pitch + column, pitch, rows + F - 1, columns + F - 1};
    convolve<Shape, F, TILE_X, TILE_Y, UNROLL, FUSED>(sums, input, coefficients);
  }

  float* const to = out + static_cast<long long>(y0 + row) * W + x0 + column;
#pragma unroll
  for (int y = 0; y < TILE_Y; ++y) {
    if (y < rows) store_row<VEC, TILE_X>(to + static_cast<long long>(y) * W, sums[y], columns);
  }
}
