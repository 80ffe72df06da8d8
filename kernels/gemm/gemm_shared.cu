// SPDX-License-Identifier: Apache-2.0
// C = alpha * A * B + beta * C, row-major: A is M x K, B is K x N, C is M x N; lda, ldb and ldc are
// the leading dimensions, in elements. The matrices of a batch are stride_a, stride_b and stride_c
// elements apart.
// A block computes a TILE_M x TILE_N tile of C from k-tiles of A and B, TILE_K deep, in shared
// memory.
//
// Grid (ceil(N / TILE_N), ceil(M / TILE_M), batch), block (BLOCK_X, BLOCK_Y), dynamic shared
// memory sizeof(T) * (TILE_M * (TILE_K + PAD) + TILE_K * (TILE_N + PAD)) bytes. Any M, N, K >= 1:
// elements outside the matrices are zero in shared memory and are not stored. As in BLAS, alpha ==
// 0 reads neither A nor B, and beta == 0 does not read C.
//
//   UNROLL  unroll factor of the loop over a k-tile
//   PAD     elements of padding after each row in shared memory, against bank conflicts
//   VEC     elements per load from global memory (1, 2 or 4, at most 16 bytes), where rows are
//           whole, aligned vectors

#include "common/element.cuh"
#include "common/vector.cuh"

// Whether a matrix with rows of `cols` elements and leading dimension `ld` consists of whole,
// aligned vectors of WIDTH elements.
template <int WIDTH, class T>
__device__ __forceinline__ bool in_vectors(const T* matrix, int cols, int ld) {
  return cols % WIDTH == 0 && ld % WIDTH == 0 &&
         reinterpret_cast<unsigned long long>(matrix) % (WIDTH * sizeof(T)) == 0;
}

// One thread's part of a ROWS x COLS k-tile of a row-major matrix: loaded from global memory to
// registers by fetch(), written to shared memory, where rows are PITCH elements apart, by store().
// The loads can be in flight while the block computes.
template <class T, int ROWS, int COLS, int PITCH, int THREADS, int VEC>
struct KTile {
  static constexpr int VECTORS = ROWS * COLS / VEC;
  static constexpr int STEPS = (VECTORS + THREADS - 1) / THREADS;

  Vector<T, VEC> part[STEPS];

  // Loads the k-tile at (row0, col0) of a rows x cols matrix.
  __device__ __forceinline__ void fetch(const T* __restrict__ matrix, int rows, int cols, int ld,
                                        int row0, int col0, int thread) {
    if (in_vectors<VEC>(matrix, cols, ld)) {
      fetch<VEC>(matrix, rows, cols, ld, row0, col0, thread);
    } else {
      fetch<1>(matrix, rows, cols, ld, row0, col0, thread);
    }
  }

  __device__ __forceinline__ void store(T* shared, int thread) const {
#pragma unroll
    for (int step = 0; step < STEPS; ++step) {
      const int i = thread + step * THREADS;
      if (VECTORS % THREADS != 0 && i >= VECTORS) break;
      T* const to = shared + i / (COLS / VEC) * PITCH + i % (COLS / VEC) * VEC;
      if constexpr (PITCH % VEC == 0) {
        *reinterpret_cast<Vector<T, VEC>*>(to) = part[step];
      } else {
#pragma unroll
        for (int v = 0; v < VEC; ++v) to[v] = part[step].at[v];
      }
    }
  }

 private:
  // As above, by loads of WIDTH elements; rows are aligned to them.
  template <int WIDTH>
  __device__ __forceinline__ void fetch(const T* __restrict__ matrix, int rows, int cols, int ld,
                                        int row0, int col0, int thread) {
#pragma unroll
    for (int step = 0; step < STEPS; ++step) {
      const int i = thread + step * THREADS;
      const int row = row0 + i / (COLS / VEC);
      const int col = col0 + i % (COLS / VEC) * VEC;
      const bool mine = (VECTORS % THREADS == 0 || i < VECTORS) && row < rows;
      const T* const from = matrix + static_cast<long long>(row) * ld + col;
#pragma unroll
      for (int v = 0; v < VEC; v += WIDTH) {
        Vector<T, WIDTH> piece = {};
        if (mine && col + v < cols) piece = *reinterpret_cast<const Vector<T, WIDTH>*>(from + v);
#pragma unroll
        for (int w = 0; w < WIDTH; ++w) part[step].at[v + w] = piece.at[w];
      }
    }
  }
};

// A thread computes rows ty + i * BLOCK_Y and groups of GROUP adjacent columns that are
// BLOCK_X * GROUP apart, so that neighbouring threads access neighbouring groups.
template <class T, class Result, int TILE_M, int TILE_N, int TILE_K, int BLOCK_X, int BLOCK_Y,
          int UNROLL, int PAD, int VEC>
__global__ void __launch_bounds__(BLOCK_X* BLOCK_Y)
    gemm_shared(int M, int N, int K, Sum<T> alpha, const T* __restrict__ A, int lda,
                const T* __restrict__ B, int ldb, Sum<T> beta, Result* __restrict__ C, int ldc,
                long long stride_a, long long stride_b, long long stride_c) {
  static_assert(TILE_M % BLOCK_Y == 0 && TILE_N % BLOCK_X == 0,
                "every thread computes the same number of elements");
  static_assert(TILE_K % VEC == 0 && TILE_N % VEC == 0,
                "a row of a k-tile is a whole number of vectors");
  constexpr int THREADS = BLOCK_X * BLOCK_Y;
  constexpr int ROWS = TILE_M / BLOCK_Y;
  constexpr int COLS = TILE_N / BLOCK_X;
  constexpr int PITCH_A = TILE_K + PAD;
  constexpr int PITCH_B = TILE_N + PAD;
  constexpr int GROUP_COLS = vector_width<T>(COLS), GROUP_PITCH = vector_width<T>(PITCH_B);
  constexpr int GROUP = GROUP_COLS < GROUP_PITCH ? GROUP_COLS : GROUP_PITCH;
  using KTileA = KTile<T, TILE_M, TILE_K, PITCH_A, THREADS, VEC>;
  using KTileB = KTile<T, TILE_K, TILE_N, PITCH_B, THREADS, VEC>;
  // Prefetches the next k-tile into registers only if it takes at most 32 of them.
  constexpr bool PREFETCH = (KTileA::STEPS + KTileB::STEPS) * VEC * sizeof(T) <= 32 * 4;

  extern __shared__ __align__(16) unsigned char shared[];
  T* const k_tile_a = reinterpret_cast<T*>(shared);
  static_assert(TILE_M * PITCH_A * sizeof(T) % 16 == 0, "the k-tile of B starts on 16 bytes");
  T* const k_tile_b = k_tile_a + TILE_M * PITCH_A;

  const int tx = threadIdx.x, ty = threadIdx.y;
  const int thread = ty * BLOCK_X + tx;
  const int row0 = blockIdx.y * TILE_M, col0 = blockIdx.x * TILE_N;
  const int depth = alpha == 0 ? 0 : K;
  const T* const a = A + blockIdx.z * stride_a;
  const T* const b = B + blockIdx.z * stride_b;

  Sum<T> sum[ROWS][COLS] = {};
  KTileA next_a;
  KTileB next_b;
  if (PREFETCH) {
    next_a.fetch(a, M, depth, lda, row0, 0, thread);
    next_b.fetch(b, depth, N, ldb, 0, col0, thread);
  }
  for (int k0 = 0; k0 < depth; k0 += TILE_K) {
    if (!PREFETCH) {
      next_a.fetch(a, M, depth, lda, row0, k0, thread);
      next_b.fetch(b, depth, N, ldb, k0, col0, thread);
    }
    next_a.store(k_tile_a, thread);
    next_b.store(k_tile_b, thread);
    __syncthreads();
    if (PREFETCH && k0 + TILE_K < depth) {
      next_a.fetch(a, M, depth, lda, row0, k0 + TILE_K, thread);
      next_b.fetch(b, depth, N, ldb, k0 + TILE_K, col0, thread);
    }
#pragma unroll UNROLL
    for (int k = 0; k < TILE_K; ++k) {
      Sum<T> va[ROWS];
      Sum<T> vb[COLS];
#pragma unroll
      for (int i = 0; i < ROWS; ++i) va[i] = Sum<T>(k_tile_a[(ty + i * BLOCK_Y) * PITCH_A + k]);
#pragma unroll
      for (int j = 0; j < COLS; j += GROUP) {
        const auto group = *reinterpret_cast<const Vector<T, GROUP>*>(k_tile_b + k * PITCH_B +
                                                                      (tx * GROUP + j * BLOCK_X));
#pragma unroll
        for (int g = 0; g < GROUP; ++g) vb[j + g] = Sum<T>(group.at[g]);
      }
#pragma unroll
      for (int i = 0; i < ROWS; ++i) {
#pragma unroll
        for (int j = 0; j < COLS; ++j) sum[i][j] += va[i] * vb[j];
      }
    }
    __syncthreads();
  }

  Result* const tile_c = C + blockIdx.z * stride_c;
  const bool grouped = in_vectors<GROUP>(tile_c, N, ldc);
#pragma unroll
  for (int i = 0; i < ROWS; ++i) {
    const int row = row0 + ty + i * BLOCK_Y;
    if (row >= M) break;
#pragma unroll
    for (int j = 0; j < COLS; j += GROUP) {
      const int col = col0 + tx * GROUP + j * BLOCK_X;
      Result* const c = tile_c + static_cast<long long>(row) * ldc + col;
      Vector<Sum<T>, GROUP> result;
#pragma unroll
      for (int g = 0; g < GROUP; ++g) result.at[g] = alpha * sum[i][j + g];
      if (grouped && col < N) {
        if (beta != 0) {
          const auto old = *reinterpret_cast<const Vector<Result, GROUP>*>(c);
#pragma unroll
          for (int g = 0; g < GROUP; ++g) result.at[g] += beta * Sum<T>(old.at[g]);
        }
        store_rounded(c, result);
      } else if (!grouped) {
#pragma unroll
        for (int g = 0; g < GROUP; ++g) {
          if (col + g >= N) continue;
          c[g] = Result(beta == 0 ? result.at[g] : result.at[g] + beta * Sum<T>(c[g]));
        }
      }
    }
  }
}
