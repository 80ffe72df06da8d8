// SPDX-License-Identifier: Apache-2.0
// Sources that no compiler survives.
#pragma once

#include "tuner/family/candidate.hpp"

#include <fmt/format.h>

#include <string>
#include <utility>

namespace tuner {

inline family::CompileJob job_of(std::string text, std::string entry) {
  return {.source = {.name = "kernel.cu", .text = std::move(text), .headers = {}},
          .entries = {std::move(entry)},
          .options = {},
          .key = ""};
}

/// A thread with an unrolled SIZE×SIZE product in registers: its code grows with the square, and
/// the time that NVRTC takes faster still. With 96 it takes minutes.
inline constexpr const char* kAccumulate = R"(
template <int SIZE>
__global__ void accumulate(const float* a, const float* b, float* c, int depth) {
  float sums[SIZE][SIZE] = {};
  for (int k = 0; k < depth; ++k) {
#pragma unroll
    for (int i = 0; i < SIZE; ++i) {
#pragma unroll
      for (int j = 0; j < SIZE; ++j) sums[i][j] += a[k * SIZE + i] * b[k * SIZE + j];
    }
  }
#pragma unroll
  for (int i = 0; i < SIZE; ++i) {
#pragma unroll
    for (int j = 0; j < SIZE; ++j) c[i * SIZE + j] = sums[i][j];
  }
}
)";

inline family::CompileJob accumulators(int size) {
  return job_of(kAccumulate, fmt::format("accumulate<{}>", size));
}

/// NVRTC allocates a text as long as its array at once: a limit refuses it in a second. Of an array
/// of numbers it fills the memory up to the limit first, for half a minute.
inline constexpr const char* kLargeArray = "__device__ char data[20'000'000'000] = \"a\";\n";

inline family::CompileJob large_array() {
  return job_of(std::string(kLargeArray) + "__global__ void first(char* x) { *x = data[0]; }",
                "first");
}

}  // namespace tuner
