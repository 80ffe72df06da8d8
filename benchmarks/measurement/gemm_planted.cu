// SPDX-License-Identifier: Apache-2.0
// gemm_shared as the repository ships it, under names: ALIAS changes nothing, and SLOWDOWN adds
// that many thousandths of its arithmetic, so that what a final says of them is known beforehand.

#include "common/element.cuh"

// The shipped kernel, which below becomes a function that a kernel can call.
template <class T, class Result, int TILE_M, int TILE_N, int TILE_K, int BLOCK_X, int BLOCK_Y,
          int UNROLL, int PAD, int VEC>
static __device__ __forceinline__ void gemm_shared(int M, int N, int K, Sum<T> alpha,
                                                   const T* __restrict__ A, int lda,
                                                   const T* __restrict__ B, int ldb, Sum<T> beta,
                                                   Result* __restrict__ C, int ldc,
                                                   long long stride_a, long long stride_b,
                                                   long long stride_c);

// `none` is 0, which the compiler cannot know: a first pass over the nearest number of k-tiles to
// SLOWDOWN thousandths of K computes the tile of a matrix without rows, and so stores nothing. The
// loop is in the code for every SLOWDOWN, so that nothing else differs.
template <int TILE_M, int TILE_N, int TILE_K, int BLOCK_X, int BLOCK_Y, int UNROLL, int PAD,
          int VEC, int ALIAS, int SLOWDOWN>
__global__ void __launch_bounds__(BLOCK_X* BLOCK_Y)
    gemm_planted(int M, int N, int K, float alpha, const float* __restrict__ A, int lda,
                 const float* __restrict__ B, int ldb, float beta, float* __restrict__ C, int ldc,
                 long long stride_a, long long stride_b, long long stride_c, int none) {
  const long long extra = (static_cast<long long>(K) * SLOWDOWN / 1000 + TILE_K / 2) / TILE_K;
  const int more_depth = static_cast<int>(extra * TILE_K) + none;
#pragma unroll 1
  for (int pass = more_depth > 0 ? 0 : 1; pass < 2; ++pass) {
    gemm_shared<float, float, TILE_M, TILE_N, TILE_K, BLOCK_X, BLOCK_Y, UNROLL, PAD, VEC>(
        pass == 0 ? none : M, N, pass == 0 ? more_depth : K, alpha, A, lda, B, ldb, beta, C, ldc,
        stride_a, stride_b, stride_c);
  }
}

#undef __global__
#undef __launch_bounds__
#define __global__ static __device__ __forceinline__
#define __launch_bounds__(...)
#include "gemm_shared.cu"
