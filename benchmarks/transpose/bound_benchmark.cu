// SPDX-License-Identifier: Apache-2.0
// What keeps a transpose below the speed of a copy: beside cublasSgeam, in turns in one process,
// - a copy by cudaMemcpyAsync and by kernels/transpose/copy_row.cu,
// - tiles of the matrix moved to their places in the transpose, but not transposed: the same
//   addresses read and written, and no shared memory,
// - kernels/transpose/transpose_tiled.cu.
//
//   nvcc -O3 -std=c++20 -arch=native -I kernels -o bound_benchmark
//        benchmarks/transpose/bound_benchmark.cu -lcublas
//   ./bound_benchmark                # squares of 2048 to 16384
//   ./bound_benchmark 8192
//
// Built by hand, since nothing else of this project needs nvcc: what does not turn its tiles is no
// kernel that a space file could verify. Each kind runs in several configurations, of which the one
// with the least median counts in the end, in rounds of its own.

#include "../../kernels/transpose/copy_row.cu"
#include "../../kernels/transpose/transpose_tiled.cu"
#include "../cold_rounds.cuh"

#include <cublas_v2.h>

namespace {

using ::check;  // of CUDA, beside cuBLAS's

constexpr int kRounds = 51;
constexpr int kLargest = 16384;

void check(cublasStatus_t result, const char* what) {
  if (result == CUBLAS_STATUS_SUCCESS) return;
  std::fprintf(stderr, "cannot %s: %s\n", what, cublasGetStatusString(result));
  std::exit(1);
}

struct Memory {
  float* in = nullptr;
  float* out = nullptr;
  cublasHandle_t cublas = nullptr;
};

/// Brings each tile of TILE x TILE to its place in the transpose, or, if not TO_TRANSPOSE, to its
/// own place, as it is. N is a multiple of TILE.
template <int TILE, int THREADS, int BAND, bool TO_TRANSPOSE>
__global__ void __launch_bounds__(THREADS)
    move_tiles(int N, const float* __restrict__ in, float* __restrict__ out) {
  constexpr int LANES = TILE / 4, ROWS = THREADS / LANES;
  const Tile tile = tile_of<BAND, false>(blockIdx.x, N / TILE, N / TILE);
  const int to_x = TO_TRANSPOSE ? tile.y : tile.x, to_y = TO_TRANSPOSE ? tile.x : tile.y;
  const int x = threadIdx.x % LANES * 4, y = threadIdx.x / LANES;
  Floats<4> value[TILE / ROWS];
#pragma unroll
  for (int i = 0; i < TILE / ROWS; ++i) {
    value[i] = load<0, 4>(in + (tile.y * TILE + y + i * ROWS) * static_cast<long long>(N) +
                          tile.x * TILE + x);
  }
#pragma unroll
  for (int i = 0; i < TILE / ROWS; ++i) {
    store<0>(out + (to_y * TILE + y + i * ROWS) * static_cast<long long>(N) + to_x * TILE + x,
             value[i]);
  }
}

using Kind = std::vector<Contender>;

template <int TILE, int THREADS, int BAND, bool TO_TRANSPOSE>
Contender moving(const Memory& memory) {
  char name[64];
  std::snprintf(name, sizeof name, "TILE=%d THREADS=%d BAND=%d", TILE, THREADS, BAND);
  return {name, [&memory](int n) {
            const int tiles = n / TILE * (n / TILE);
            move_tiles<TILE, THREADS, BAND, TO_TRANSPOSE>
                <<<tiles, THREADS>>>(n, memory.in, memory.out);
          }};
}

template <int TILE_X, int TILE_Y, int THREADS, int BAND, int MIN_BLOCKS>
Contender transposing(const Memory& memory) {
  char name[96];
  std::snprintf(name, sizeof name, "TILE_X=%d TILE_Y=%d THREADS=%d BAND=%d MIN_BLOCKS=%d", TILE_X,
                TILE_Y, THREADS, BAND, MIN_BLOCKS);
  return {name, [&memory](int n) {
            const int tiles = ceil_div(n, TILE_X) * ceil_div(n, TILE_Y);
            transpose_tiled<float, 4, 4, TILE_X, TILE_Y, 1, THREADS, 0, 0, BAND, false, MIN_BLOCKS>
                <<<tiles, THREADS, 4 * TILE_X * TILE_Y>>>(n, n, memory.in, memory.out);
          }};
}

template <int BLOCK_X, int BLOCK_Y, int UNROLL>
Contender copying(const Memory& memory) {
  char name[64];
  std::snprintf(name, sizeof name, "BLOCK_X=%d BLOCK_Y=%d UNROLL=%d", BLOCK_X, BLOCK_Y, UNROLL);
  return {name, [&memory](int n) {
            const dim3 grid(ceil_div(n, 4 * BLOCK_X * UNROLL), ceil_div(n, BLOCK_Y));
            copy_row<float, 4, BLOCK_X, BLOCK_Y, UNROLL, 0, 0>
                <<<grid, dim3(BLOCK_X, BLOCK_Y)>>>(n, n, memory.in, memory.out);
          }};
}

void compare(const ColdRounds& rounds, const std::vector<std::pair<const char*, Kind>>& kinds,
             int n) {
  std::vector<const Contender*> best;
  for (const auto& [what, kind] : kinds) best.push_back(&rounds.best_of(kind, n));
  const auto us = rounds.medians_us(best, n, kRounds);
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    std::printf("%5d^2  %-38s %8.2f us  %5.0f GB/s  x%.3f  %s\n", n, kinds[i].first, us[i],
                8e-3 * n * n / us[i], us[0] / us[i], best[i]->name.c_str());
  }
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  const ColdRounds rounds;
  Memory memory;
  constexpr std::size_t kBytes = sizeof(float) * kLargest * kLargest;
  check(cudaMalloc(&memory.in, kBytes), "allocate");
  check(cudaMalloc(&memory.out, kBytes), "allocate");
  fill<<<4096, 256>>>(memory.in, static_cast<long long>(kLargest) * kLargest);
  check(cudaDeviceSynchronize(), "fill");
  check(cublasCreate(&memory.cublas), "open cuBLAS");

  const Contender geam{"", [&](int n) {
                         const float one = 1, zero = 0;
                         check(cublasSgeam(memory.cublas, CUBLAS_OP_T, CUBLAS_OP_N, n, n, &one,
                                           memory.in, n, &zero, memory.out, n, memory.out, n),
                               "run cublasSgeam");
                       }};
  const Contender memcpy{"", [&](int n) {
                           check(cudaMemcpyAsync(memory.out, memory.in, sizeof(float) * n * n,
                                                 cudaMemcpyDeviceToDevice),
                                 "copy");
                         }};
  const Memory& m = memory;
  const std::vector<std::pair<const char*, Kind>> kinds = {
      {"cublasSgeam", {geam}},
      {"copy by cudaMemcpyAsync", {memcpy}},
      {"copy_row",
       {copying<16, 16, 1>(m), copying<8, 16, 1>(m), copying<256, 1, 1>(m), copying<128, 1, 4>(m)}},
      {"tiles moved to their own places",
       {moving<64, 256, 1, false>(m), moving<64, 256, 0, false>(m), moving<64, 256, 16, false>(m),
        moving<128, 1024, 1, false>(m)}},
      {"tiles moved to those of the transpose",
       {moving<64, 256, 0, true>(m), moving<64, 256, 1, true>(m), moving<64, 256, 4, true>(m),
        moving<64, 256, 16, true>(m), moving<64, 256, 32, true>(m), moving<64, 128, 0, true>(m),
        moving<32, 256, 0, true>(m), moving<128, 1024, 0, true>(m)}},
      {"transpose_tiled",
       {transposing<64, 64, 256, 0, 1>(m), transposing<64, 64, 256, 0, 4>(m),
        transposing<64, 64, 64, 0, 4>(m), transposing<64, 128, 512, 0, 1>(m),
        transposing<128, 64, 512, 0, 1>(m), transposing<64, 64, 256, 1, 4>(m)}}};
  std::vector<int> sizes;
  for (int i = 1; i < argc; ++i) sizes.push_back(std::atoi(argv[i]));
  if (sizes.empty()) sizes = {2048, 4096, 5760, 8192, 9984, 16384};
  for (const int n : sizes) {
    if (n < 128 || n > kLargest || n % 128 != 0) {
      std::fprintf(stderr, "%d: sizes are multiples of 128 up to %d\n", n, kLargest);
      return 2;
    }
    compare(rounds, kinds, n);
  }
  return 0;
}
