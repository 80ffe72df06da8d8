// SPDX-License-Identifier: Apache-2.0
// What keeps a transpose below the speed of a copy: beside cublasSgeam, in turns in one process,
// - a copy by cudaMemcpyAsync and by kernels/transpose/copy_row.cu,
// - tiles of the matrix brought to their places in the transpose, but not turned: the same addresses
//   read and written, and no shared memory,
// - kernels/transpose/transpose_tiled.cu.
//
//   nvcc -O3 -std=c++20 -arch=native -o bound_benchmark benchmarks/transpose/bound_benchmark.cu -lcublas
//   ./bound_benchmark                # squares of 2048 to 16384
//   ./bound_benchmark 8192
//
// Built by hand, since nothing else of this project needs nvcc: one that never gets the turning done is no
// kernel that a space file could verify. Each kind runs in several configurations, of which the one with
// the least median counts in the end, in rounds of its own. A sample begins with a cold second cache; the
// GPU waits until all of a sample is enqueued.

#include "../../kernels/transpose/copy_row.cu"
#include "../../kernels/transpose/transpose_tiled.cu"

#include <cublas_v2.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

namespace {

constexpr int kRounds = 51, kRoundsOfEach = 11;
constexpr int kLargest = 16384;

void check(int result, const char* what) {
  if (result == 0) return;
  std::fprintf(stderr, "cannot %s: error %d\n", what, result);
  std::exit(1);
}

struct Memory {
  float* in = nullptr;
  float* out = nullptr;
  char* flush = nullptr;
  std::size_t flush_bytes = 0;
  cublasHandle_t cublas = nullptr;
};

__global__ void fill(float* x, long long count) {
  for (long long i = blockIdx.x * 256LL + threadIdx.x; i < count; i += gridDim.x * 256LL) {
    const unsigned hash = static_cast<unsigned>(i) * 2654435761u;
    x[i] = static_cast<float>(hash >> 8) / 8388608.0f - 1.0f;
  }
}

/// Holds the stream until the sample is enqueued.
__global__ void wait(long long clocks) {
  const long long begin = clock64();
  while (clock64() - begin < clocks) {
  }
}

/// Brings each tile of TILE x TILE to its place in the transpose, or, if not TO_TRANSPOSE, to its own
/// place, as it is. N is a multiple of TILE.
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

struct Contender {
  std::string configuration;
  std::function<void(const Memory&, int)> launch;
};
using Kind = std::vector<Contender>;

template <int TILE, int THREADS, int BAND, bool TO_TRANSPOSE>
Contender moving() {
  char name[64];
  std::snprintf(name, sizeof name, "TILE=%d THREADS=%d BAND=%d", TILE, THREADS, BAND);
  return {name, [](const Memory& memory, int n) {
            const int tiles = n / TILE * (n / TILE);
            move_tiles<TILE, THREADS, BAND, TO_TRANSPOSE>
                <<<tiles, THREADS>>>(n, memory.in, memory.out);
          }};
}

template <int TILE_X, int TILE_Y, int THREADS, int BAND, int MIN_BLOCKS>
Contender transposing() {
  char name[96];
  std::snprintf(name, sizeof name, "TILE_X=%d TILE_Y=%d THREADS=%d BAND=%d MIN_BLOCKS=%d", TILE_X,
                TILE_Y, THREADS, BAND, MIN_BLOCKS);
  return {name, [](const Memory& memory, int n) {
            const int tiles = ceil_div(n, TILE_X) * ceil_div(n, TILE_Y);
            transpose_tiled<4, 4, TILE_X, TILE_Y, 1, THREADS, 0, 0, BAND, false, MIN_BLOCKS>
                <<<tiles, THREADS, 4 * TILE_X * TILE_Y>>>(n, n, memory.in, memory.out);
          }};
}

template <int BLOCK_X, int BLOCK_Y, int UNROLL>
Contender copying() {
  char name[64];
  std::snprintf(name, sizeof name, "BLOCK_X=%d BLOCK_Y=%d UNROLL=%d", BLOCK_X, BLOCK_Y, UNROLL);
  return {name, [](const Memory& memory, int n) {
            const dim3 grid(ceil_div(n, 4 * BLOCK_X * UNROLL), ceil_div(n, BLOCK_Y));
            copy_row<4, BLOCK_X, BLOCK_Y, UNROLL, 0, 0>
                <<<grid, dim3(BLOCK_X, BLOCK_Y)>>>(n, n, memory.in, memory.out);
          }};
}

double time_us(const Memory& memory, const Contender& contender, int n) {
  static cudaEvent_t begin = nullptr, end = nullptr;
  if (begin == nullptr) {
    check(cudaEventCreate(&begin), "make an event");
    check(cudaEventCreate(&end), "make an event");
  }
  check(cudaMemsetAsync(memory.flush, 0, memory.flush_bytes), "flush");
  wait<<<1, 1>>>(60'000);
  check(cudaEventRecord(begin), "record");
  contender.launch(memory, n);
  check(cudaEventRecord(end), "record");
  check(cudaGetLastError(), "launch");
  check(cudaEventSynchronize(end), "run");
  float milliseconds = 0;
  check(cudaEventElapsedTime(&milliseconds, begin, end), "time");
  return 1e3 * static_cast<double>(milliseconds);
}

double median(std::vector<double> values) {
  std::ranges::nth_element(values, values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2));
  return values[values.size() / 2];
}

const Contender& best_of(const Memory& memory, const Kind& kind, int n) {
  const Contender* best = nullptr;
  double least = INFINITY;
  for (const Contender& each : kind) {
    std::vector<double> times;
    for (int i = 0; i < kRoundsOfEach; ++i) times.push_back(time_us(memory, each, n));
    if (median(times) < least) {
      least = median(times);
      best = &each;
    }
  }
  return *best;
}

void compare(const Memory& memory, const std::vector<std::pair<const char*, Kind>>& kinds, int n) {
  std::vector<const Contender*> best;
  for (const auto& [what, kind] : kinds) best.push_back(&best_of(memory, kind, n));
  std::vector<std::vector<double>> times(kinds.size());
  for (int round = 0; round < kRounds; ++round) {
    for (std::size_t i = 0; i < kinds.size(); ++i) {
      const std::size_t turn = round % 2 == 0 ? i : kinds.size() - 1 - i;
      times[turn].push_back(time_us(memory, *best[turn], n));
    }
  }
  const double geam_us = median(times.front());
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    const double us = median(times[i]);
    std::printf("%5d^2  %-38s %8.2f us  %5.0f GB/s  x%.3f  %s\n", n, kinds[i].first, us,
                8e-3 * n * n / us, geam_us / us, best[i]->configuration.c_str());
  }
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  Memory memory;
  int l2_bytes = 0;
  check(cudaDeviceGetAttribute(&l2_bytes, cudaDevAttrL2CacheSize, 0), "ask");
  memory.flush_bytes = 2 * static_cast<std::size_t>(l2_bytes);
  constexpr std::size_t kBytes = sizeof(float) * kLargest * kLargest;
  check(cudaMalloc(&memory.in, kBytes), "allocate");
  check(cudaMalloc(&memory.out, kBytes), "allocate");
  check(cudaMalloc(&memory.flush, memory.flush_bytes), "allocate");
  fill<<<4096, 256>>>(memory.in, static_cast<long long>(kLargest) * kLargest);
  check(cudaDeviceSynchronize(), "fill");
  check(cublasCreate(&memory.cublas), "open cuBLAS");

  const Contender geam{"", [](const Memory& m, int n) {
                         const float one = 1, zero = 0;
                         check(cublasSgeam(m.cublas, CUBLAS_OP_T, CUBLAS_OP_N, n, n, &one, m.in, n,
                                           &zero, m.out, n, m.out, n),
                               "run cublasSgeam");
                       }};
  const Contender memcpy{"", [](const Memory& m, int n) {
                           check(cudaMemcpyAsync(m.out, m.in, sizeof(float) * n * n,
                                                 cudaMemcpyDeviceToDevice),
                                 "copy");
                         }};
  const std::vector<std::pair<const char*, Kind>> kinds = {
      {"cublasSgeam", {geam}},
      {"copy by cudaMemcpyAsync", {memcpy}},
      {"copy_row", {copying<16, 16, 1>(), copying<8, 16, 1>(), copying<256, 1, 1>(), copying<128, 1, 4>()}},
      {"tiles moved to their own places",
       {moving<64, 256, 1, false>(), moving<64, 256, 0, false>(), moving<64, 256, 16, false>(),
        moving<128, 1024, 1, false>()}},
      {"tiles moved to those of the transpose",
       {moving<64, 256, 0, true>(), moving<64, 256, 1, true>(), moving<64, 256, 4, true>(),
        moving<64, 256, 16, true>(), moving<64, 256, 32, true>(), moving<64, 128, 0, true>(),
        moving<32, 256, 0, true>(), moving<128, 1024, 0, true>()}},
      {"transpose_tiled",
       {transposing<64, 64, 256, 0, 1>(), transposing<64, 64, 256, 0, 4>(), transposing<64, 64, 64, 0, 4>(),
        transposing<64, 128, 512, 0, 1>(), transposing<128, 64, 512, 0, 1>(),
        transposing<64, 64, 256, 1, 4>()}}};
  std::vector<int> sizes;
  for (int i = 1; i < argc; ++i) sizes.push_back(std::atoi(argv[i]));
  if (sizes.empty()) sizes = {2048, 4096, 5760, 8192, 9984, 16384};
  for (const int n : sizes) {
    if (n < 128 || n > kLargest || n % 128 != 0) {
      std::fprintf(stderr, "%d: sizes are multiples of 128 up to %d\n", n, kLargest);
      return 2;
    }
    compare(memory, kinds, n);
  }
  return 0;
}
