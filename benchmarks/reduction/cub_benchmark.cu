// SPDX-License-Identifier: Apache-2.0
// The sum of N floats by CUB and by kernels/reduction/reduction_last_block.cu, in turns in one
// process, and how long reading them alone takes.
//
//   nvcc -O3 -std=c++20 -arch=native -I kernels -o cub_benchmark
//   benchmarks/reduction/cub_benchmark.cu
//   ./cub_benchmark                  # 2^10 to 2^28 and odd sizes
//   ./cub_benchmark 16777216
//
// Built by hand, since nothing else of this project needs nvcc: CUB's dispatch is a template of
// host code, and is what applications call. Ours and the reading run in several configurations, of
// which the one with the least median counts in the end, in rounds of its own.

#include "../../kernels/reduction/reduction_last_block.cu"
#include "../cold_rounds.cuh"

#include <cub/device/device_reduce.cuh>

namespace {

constexpr int kRounds = 201;
constexpr long long kMostFloats = 1LL << 28;

struct Memory {
  float* x = nullptr;
  float* sum = nullptr;
  float* partials = nullptr;
  unsigned* arrivals = nullptr;
  void* cub = nullptr;
  std::size_t cub_bytes = 0;
  int multiprocessors = 0;
};

/// Reads all whole vectors. Their sum decides whether it is stored, so that the loads are not left
/// out.
template <int BLOCK, int UNROLL, int LOAD>
__global__ void __launch_bounds__(BLOCK) read_all(int count, const float* x, float* sink) {
  const int vectors = count / 4, apart = gridDim.x * BLOCK * UNROLL;
  float sum = 0;
  for (int first = blockIdx.x * BLOCK * UNROLL + threadIdx.x; first < vectors; first += apart) {
    Floats<4> value[UNROLL] = {};
#pragma unroll
    for (int i = 0; i < UNROLL; ++i) {
      const int at = first + i * BLOCK;
      if (at < vectors) value[i] = load<LOAD, 4>(x + 4LL * at);
    }
#pragma unroll
    for (int i = 0; i < UNROLL; ++i) {
      sum += value[i].at[0] + value[i].at[1] + value[i].at[2] + value[i].at[3];
    }
  }
  if (sum == 1234.5f) *sink = sum;
}

Memory make_memory() {
  Memory memory;
  check(cudaDeviceGetAttribute(&memory.multiprocessors, cudaDevAttrMultiProcessorCount, 0), "ask");
  check(cudaMalloc(&memory.x, kMostFloats * sizeof(float)), "allocate");
  check(cudaMalloc(&memory.sum, sizeof(float)), "allocate");
  check(cudaMalloc(&memory.partials, 32 * 1024 * sizeof(float)), "allocate");
  check(cudaMalloc(&memory.arrivals, sizeof(unsigned)), "allocate");
  check(cudaMemset(memory.arrivals, 0, sizeof(unsigned)), "clear");
  check(cub::DeviceReduce::Sum(nullptr, memory.cub_bytes, memory.x, memory.sum,
                               static_cast<int>(kMostFloats)),
        "ask CUB");
  check(cudaMalloc(&memory.cub, memory.cub_bytes), "allocate");
  fill<<<4096, 256>>>(memory.x, kMostFloats);
  check(cudaDeviceSynchronize(), "fill");
  return memory;
}

template <int BLOCK, int UNROLL, int LOAD, bool CHUNKED>
void add_ours(std::vector<Contender>& contenders, Memory& memory) {
  for (const int blocks : {1, 2, 3, 4, 6, 8}) {
    if (BLOCK * blocks > 2048 || BLOCK * blocks * (4 * UNROLL + 28) > 65536) continue;
    char name[96];
    std::snprintf(name, sizeof name, "BLOCK=%d UNROLL=%d BLOCKS=%d LOAD=%d CHUNKED=%d", BLOCK,
                  UNROLL, blocks, LOAD, CHUNKED ? 1 : 0);
    contenders.push_back({name, [&memory, blocks](int count) {
                            const int step = 4 * BLOCK * UNROLL;
                            const int most = blocks * memory.multiprocessors;
                            const int grid = std::max(1, std::min(most, count / step));
                            reduction_last_block<float, 4, BLOCK, UNROLL, LOAD, CHUNKED>
                                <<<grid, BLOCK>>>(count, memory.x, memory.sum, memory.partials,
                                                  memory.arrivals);
                          }});
  }
}

template <int BLOCK, int UNROLL, int LOAD>
void add_reading(std::vector<Contender>& contenders, Memory& memory) {
  for (const int blocks : {1, 2, 4, 8}) {
    if (BLOCK * blocks > 2048) continue;
    char name[64];
    std::snprintf(name, sizeof name, "BLOCK=%d UNROLL=%d BLOCKS=%d LOAD=%d", BLOCK, UNROLL, blocks,
                  LOAD);
    contenders.push_back({name, [&memory, blocks](int count) {
                            const int step = 4 * BLOCK * UNROLL;
                            const int most = blocks * memory.multiprocessors;
                            const int grid = std::max(1, std::min(most, count / step));
                            read_all<BLOCK, UNROLL, LOAD>
                                <<<grid, BLOCK>>>(count, memory.x, memory.sum);
                          }});
  }
}

std::vector<Contender> reading_contenders(Memory& memory) {
  std::vector<Contender> reading;
  add_reading<256, 1, 0>(reading, memory);
  add_reading<1024, 1, 0>(reading, memory);
  add_reading<512, 2, 1>(reading, memory);
  add_reading<256, 4, 0>(reading, memory);
  add_reading<256, 4, 2>(reading, memory);
  add_reading<512, 4, 2>(reading, memory);
  add_reading<256, 8, 1>(reading, memory);
  return reading;
}

std::vector<Contender> our_contenders(Memory& memory) {
  std::vector<Contender> ours;
  add_ours<256, 1, 0, false>(ours, memory);
  add_ours<512, 1, 0, false>(ours, memory);
  add_ours<1024, 1, 0, false>(ours, memory);
  add_ours<256, 2, 0, false>(ours, memory);
  add_ours<512, 2, 1, false>(ours, memory);
  add_ours<256, 4, 0, false>(ours, memory);
  add_ours<256, 4, 1, false>(ours, memory);
  add_ours<256, 4, 2, false>(ours, memory);
  add_ours<512, 4, 2, false>(ours, memory);
  add_ours<256, 4, 1, true>(ours, memory);
  add_ours<256, 8, 1, false>(ours, memory);
  add_ours<512, 8, 2, false>(ours, memory);
  add_ours<128, 16, 1, false>(ours, memory);
  return ours;
}

float result_of(const Memory& memory, const Contender& contender, int count) {
  contender.launch(count);
  float sum = 0;
  check(cudaMemcpy(&sum, memory.sum, sizeof sum, cudaMemcpyDeviceToHost), "read");
  return sum;
}

void compare(const ColdRounds& rounds, const Memory& memory, const Contender& cub,
             const std::vector<Contender>& ours, const std::vector<Contender>& reading, int count) {
  const Contender& best = rounds.best_of(ours, count);
  const auto us = rounds.medians_us({&cub, &best, &rounds.best_of(reading, count)}, count, kRounds);
  const auto gb_per_s = [&](double time_us) { return 4e-3 * count / time_us; };
  std::printf(
      "%10d  CUB %9.2f us %7.0f GB/s  ours %9.2f us %7.0f GB/s  x%.3f  reading %9.2f us %7.0f GB/s "
      " "
      "x%.3f  %s  (%g, %g)\n",
      count, us[0], gb_per_s(us[0]), us[1], gb_per_s(us[1]), us[0] / us[1], us[2], gb_per_s(us[2]),
      us[2] / us[1], best.name.c_str(), static_cast<double>(result_of(memory, cub, count)),
      static_cast<double>(result_of(memory, best, count)));
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  const ColdRounds rounds;
  Memory memory = make_memory();
  const Contender cub{
      "CUB", [&memory](int count) {
        check(cub::DeviceReduce::Sum(memory.cub, memory.cub_bytes, memory.x, memory.sum, count),
              "run CUB");
      }};
  const std::vector<Contender> ours = our_contenders(memory), reading = reading_contenders(memory);
  std::vector<int> counts;
  for (int i = 1; i < argc; ++i) counts.push_back(std::atoi(argv[i]));
  if (counts.empty()) {
    for (int power = 10; power <= 28; power += 2) counts.push_back(1 << power);
    counts.insert(counts.end(), {10007, 1000000, 10000019, 100000007});
  }
  for (const int count : counts) {
    if (count < 1 || count > kMostFloats) {
      std::fprintf(stderr, "%d: sizes are 1 to %lld\n", count, kMostFloats);
      return 2;
    }
    compare(rounds, memory, cub, ours, reading, count);
  }
  return 0;
}
