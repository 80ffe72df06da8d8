// SPDX-License-Identifier: Apache-2.0
// What the benchmarks that nvcc builds by hand share: contenders timed in turns, each time from a
// cold second cache.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

/// Ends the program unless CUDA's function succeeded.
inline void check(cudaError_t result, const char* what) {
  if (result == cudaSuccess) return;
  std::fprintf(stderr, "cannot %s: %s\n", what, cudaGetErrorString(result));
  std::exit(1);
}

/// Numbers from -1 to 1.
static __global__ void fill(float* x, long long count) {
  for (long long i = blockIdx.x * 256LL + threadIdx.x; i < count; i += gridDim.x * 256LL) {
    const unsigned hash = static_cast<unsigned>(i) * 2654435761u;
    x[i] = static_cast<float>(hash >> 8) / 8388608.0f - 1.0f;
  }
}

/// Holds the stream until the sample is enqueued.
static __global__ void hold(long long clocks) {
  const long long begin = clock64();
  while (clock64() - begin < clocks) {
  }
}

/// A way to do the work, at a size.
struct Contender {
  std::string name;
  std::function<void(int)> launch;
};

inline double median(std::vector<double> values) {
  std::ranges::nth_element(values, values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2));
  return values[values.size() / 2];
}

/// Times contenders on the default stream of device 0. A sample begins with a cold second cache,
/// and the GPU waits until all of it is enqueued, so that nobody pays for launching.
class ColdRounds {
 public:
  ColdRounds() {
    int l2_bytes = 0;
    check(cudaDeviceGetAttribute(&l2_bytes, cudaDevAttrL2CacheSize, 0), "ask for the cache's size");
    flush_bytes_ = 2 * static_cast<std::size_t>(l2_bytes);
    check(cudaMalloc(&flush_, flush_bytes_), "allocate");
    check(cudaEventCreate(&begin_), "make an event");
    check(cudaEventCreate(&end_), "make an event");
  }

  /// The one with the least median of 15 samples.
  const Contender& best_of(const std::vector<Contender>& contenders, int size) const {
    const Contender* best = nullptr;
    double least = INFINITY;
    for (const Contender& each : contenders) {
      std::vector<double> times;
      for (int i = 0; i < 15; ++i) times.push_back(time_us(each, size));
      if (median(times) < least) {
        least = median(times);
        best = &each;
      }
    }
    return *best;
  }

  /// The median time of each in microseconds, over rounds in which each has its turn, in one order
  /// and the other by turns.
  std::vector<double> medians_us(const std::vector<const Contender*>& sides, int size,
                                 int rounds) const {
    std::vector<std::vector<double>> times(sides.size());
    for (int round = 0; round < rounds; ++round) {
      for (std::size_t i = 0; i < sides.size(); ++i) {
        const std::size_t turn = round % 2 == 0 ? i : sides.size() - 1 - i;
        times[turn].push_back(time_us(*sides[turn], size));
      }
    }
    std::vector<double> medians;
    for (const std::vector<double>& each : times) medians.push_back(median(each));
    return medians;
  }

 private:
  double time_us(const Contender& contender, int size) const {
    check(cudaMemsetAsync(flush_, 1, flush_bytes_), "flush");
    hold<<<1, 1>>>(60'000);
    check(cudaEventRecord(begin_), "record");
    contender.launch(size);
    check(cudaEventRecord(end_), "record");
    check(cudaGetLastError(), "launch");
    check(cudaEventSynchronize(end_), "run");
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, begin_, end_), "time");
    return 1e3 * static_cast<double>(milliseconds);
  }

  char* flush_ = nullptr;
  std::size_t flush_bytes_ = 0;
  cudaEvent_t begin_ = nullptr, end_ = nullptr;
};
