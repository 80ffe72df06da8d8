// SPDX-License-Identifier: Apache-2.0
// A family whose kernel takes an array by value: y[i] = the sum over k < K of w[k]·x[i + k].
#pragma once

#include "tests/dispatch/product_family.hpp"

namespace tuner::dispatch {

inline constexpr const char* kWeightedSpace = R"json({
  "format": "space/1", "family": "weighted",
  "problem": { "dims": ["N", "K"], "flops": "2*N*K", "bytes": "8*N" },
  "arguments": [
    {"name": "N", "type": "int", "value": "N"},
    {"name": "x", "type": "float*", "count": "N + K - 1"},
    {"name": "w", "type": "float[]", "count": "K"},
    {"name": "y", "type": "float*", "count": "N", "role": "output"} ],
  "check": { "reference": {"kernel": "weigh"}, "accumulates": "K" },
  "kernels": {
    "weigh": {
      "source": "product.cu", "entry": "weigh<${BLOCK},${K}>",
      "parameters": { "BLOCK": {"values": [1, 2], "default": 1} },
      "launch": {"grid": ["ceil_div(N, BLOCK)"], "block": ["BLOCK"]} } } })json";

/// Its struct is wider aligned than its elements, as a kernel's may be.
inline constexpr const char* kWeightedSource = R"cuda(
template <int K>
struct alignas(16) Weights {
  float at[K];
};
template <int kBlock, int K>
__global__ void weigh(int N, const float* x, const __grid_constant__ Weights<K> w, float* y) {
  const int i = blockIdx.x * kBlock + threadIdx.x;
  if (i >= N) return;
  y[i] = 0;
  for (int k = 0; k < K; ++k) y[i] += w.at[k] * x[i + k];
}
)cuda";

/// The result of tuning it at a size.
inline Tuned weighted(const std::string& size, const std::string& config = R"({"BLOCK":2})") {
  return {.size = size,
          .kernel = "weigh",
          .config = config,
          .family = "weighted",
          .space = kWeightedSpace,
          .source = kWeightedSource};
}

}  // namespace tuner::dispatch
