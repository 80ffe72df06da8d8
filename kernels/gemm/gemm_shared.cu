// SPDX-License-Identifier: Apache-2.0
// C = alpha * A * B + beta * C, row-major: A is M x K, B is K x N, C is M x N; lda, ldb and ldc are
// the leading dimensions, in floats. The matrices of a batch are stride_a, stride_b and stride_c
// floats apart.
// A block computes a TILE_M x TILE_N tile of C from k-tiles of A and B, TILE_K deep, in shared
// memory.
//
// Grid (ceil(N / TILE_N), ceil(M / TILE_M), batch), block (BLOCK_X, BLOCK_Y), dynamic shared
// memory 4 * (TILE_M * (TILE_K + PAD) + TILE_K * (TILE_N + PAD)) bytes. Any M, N, K >= 1: elements
// outside the matrices are zero in shared memory and are not stored. As in BLAS, alpha == 0 reads
// neither A nor B, and beta == 0 does not read C.
//
//   UNROLL  unroll factor of the loop over a k-tile
//   PAD     floats of padding after each row in shared memory, against bank conflicts
//   VEC     floats per load from global memory (1, 2 or 4), where rows are whole, aligned vectors

template <int COUNT>
struct alignas(COUNT * sizeof(float)) Floats {
  float at[COUNT];
};

// The widest vector, in floats, that divides both numbers.
__device__ constexpr int vector_width(int x, int y) {
  return x % 4 == 0 && y % 4 == 0 ? 4 : x % 2 == 0 && y % 2 == 0 ? 2 : 1;
}

// Whether a matrix with rows of `cols` floats and leading dimension `ld` consists of whole, aligned
// vectors of WIDTH floats.
template <int WIDTH>
__device__ __forceinline__ bool in_vectors(const float* matrix, int cols, int ld) {
  return cols % WIDTH == 0 && ld % WIDTH == 0 &&
         reinterpret_cast<unsigned long long>(matrix) % (WIDTH * sizeof(float)) == 0;
}

// One thread's part of a ROWS x COLS k-tile of a row-major matrix: loaded from global memory to
// registers by fetch(), written to shared memory, where rows are PITCH floats apart, by store().
// The loads can be in flight while the block computes.
template <int ROWS, int COLS, int PITCH, int THREADS, int VEC>
struct KTile {
  static constexpr int VECTORS = ROWS * COLS / VEC;
  static constexpr int STEPS = (VECTORS + THREADS - 1) / THREADS;

  Floats<VEC> part[STEPS];

  // Loads the k-tile at (row0, col0) of a rows x cols matrix.
  __device__ __forceinline__ void fetch(const float* __restrict__ matrix, int rows, int cols,
                                        int ld, int row0, int col0, int thread) {
    if (in_vectors<VEC>(matrix, cols, ld)) {
      fetch<VEC>(matrix, rows, cols, ld, row0, col0, thread);
    } else {
      fetch<1>(matrix, rows, cols, ld, row0, col0, thread);
    }
  }

  __device__ __forceinline__ void store(float* shared, int thread) const {
#pragma unroll
    for (int step = 0; step < STEPS; ++step) {
      const int i = thread + step * THREADS;
      if (VECTORS % THREADS != 0 && i >= VECTORS) break;
      float* const to = shared + i / (COLS / VEC) * PITCH + i % (COLS / VEC) * VEC;
      if constexpr (PITCH % VEC == 0) {
        *reinterpret_cast<Floats<VEC>*>(to) = part[step];
      } else {
#pragma unroll
        for (int v = 0; v < VEC; ++v) to[v] = part[step].at[v];
      }
    }
  }

 private:
  // As above, by loads of WIDTH floats; rows are aligned to them.
  template <int WIDTH>
  __device__ __forceinline__ void fetch(const float* __restrict__ matrix, int rows, int cols,
                                        int ld, int row0, int col0, int thread) {
#pragma unroll
    for (int step = 0; step < STEPS; ++step) {
      const int i = thread + step * THREADS;
      const int row = row0 + i / (COLS / VEC);
      const int col = col0 + i % (COLS / VEC) * VEC;
      const bool mine = (VECTORS % THREADS == 0 || i < VECTORS) && row < rows;
      const float* const from = matrix + static_cast<long long>(row) * ld + col;
#pragma unroll
      for (int v = 0; v < VEC; v += WIDTH) {
        Floats<WIDTH> piece = {};
        if (mine && col + v < cols) piece = *reinterpret_cast<const Floats<WIDTH>*>(from + v);
#pragma unroll
        for (int w = 0; w < WIDTH; ++w) part[step].at[v + w] = piece.at[w];
      }
    }
  }
};

// A thread computes rows ty + i * BLOCK_Y and groups of GROUP adjacent columns that are
// BLOCK_X * GROUP apart, so that neighbouring threads access neighbouring groups.
template <int TILE_M, int TILE_N, int TILE_K, int BLOCK_X, int BLOCK_Y, int UNROLL, int PAD,
          int VEC>
__global__ void __launch_bounds__(BLOCK_X* BLOCK_Y)
    gemm_shared(int M, int N, int K, float alpha, const float* __restrict__ A, int lda,
                const float* __restrict__ B, int ldb, float beta, float* __restrict__ C, int ldc,
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
  constexpr int GROUP = vector_width(COLS, PITCH_B);
  using KTileA = KTile<TILE_M, TILE_K, PITCH_A, THREADS, VEC>;
  using KTileB = KTile<TILE_K, TILE_N, PITCH_B, THREADS, VEC>;
  // Prefetches the next k-tile into registers only if it takes at most 32 of them.
  constexpr bool PREFETCH = (KTileA::STEPS + KTileB::STEPS) * VEC <= 32;

  extern __shared__ __align__(16) float shared[];
  float* const k_tile_a = shared;
  static_assert(TILE_M * PITCH_A % 4 == 0, "the k-tile of B starts on 16 bytes");
  float* const k_tile_b = shared + TILE_M * PITCH_A;

  const int tx = threadIdx.x, ty = threadIdx.y;
  const int thread = ty * BLOCK_X + tx;
  const int row0 = blockIdx.y * TILE_M, col0 = blockIdx.x * TILE_N;
  const int depth = alpha == 0.0f ? 0 : K;
  const float* const a = A + blockIdx.z * stride_a;
  const float* const b = B + blockIdx.z * stride_b;

  float sum[ROWS][COLS] = {};
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
      float va[ROWS];
      float vb[COLS];
#pragma unroll
      for (int i = 0; i < ROWS; ++i) va[i] = k_tile_a[(ty + i * BLOCK_Y) * PITCH_A + k];
#pragma unroll
      for (int j = 0; j < COLS; j += GROUP) {
        const Floats<GROUP> group = *reinterpret_cast<const Floats<GROUP>*>(
            k_tile_b + k * PITCH_B + (tx * GROUP + j * BLOCK_X));
#pragma unroll
        for (int g = 0; g < GROUP; ++g) vb[j + g] = group.at[g];
      }
#pragma unroll
      for (int i = 0; i < ROWS; ++i) {
#pragma unroll
        for (int j = 0; j < COLS; ++j) sum[i][j] += va[i] * vb[j];
      }
    }
    __syncthreads();
  }

  float* const tile_c = C + blockIdx.z * stride_c;
  const bool grouped = in_vectors<GROUP>(tile_c, N, ldc);
#pragma unroll
  for (int i = 0; i < ROWS; ++i) {
    const int row = row0 + ty + i * BLOCK_Y;
    if (row >= M) break;
#pragma unroll
    for (int j = 0; j < COLS; j += GROUP) {
      const int col = col0 + tx * GROUP + j * BLOCK_X;
      float* const c = tile_c + static_cast<long long>(row) * ldc + col;
      Floats<GROUP> result;
#pragma unroll
      for (int g = 0; g < GROUP; ++g) result.at[g] = alpha * sum[i][j + g];
      if (grouped && col < N) {
        if (beta != 0.0f) {
          const Floats<GROUP> old = *reinterpret_cast<const Floats<GROUP>*>(c);
#pragma unroll
          for (int g = 0; g < GROUP; ++g) result.at[g] += beta * old.at[g];
        }
        *reinterpret_cast<Floats<GROUP>*>(c) = result;
      } else if (!grouped) {
#pragma unroll
        for (int g = 0; g < GROUP; ++g) {
          if (col + g < N) c[g] = beta == 0.0f ? result.at[g] : result.at[g] + beta * c[g];
        }
      }
    }
  }
}
