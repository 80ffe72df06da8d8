// SPDX-License-Identifier: Apache-2.0
// A family whose kernel is two launches: y = factor · the sum of the squares of x.
#pragma once

#include "tests/dispatch/product_family.hpp"

namespace tuner::dispatch {

/// The first launch fills the scratch buffer, the second sums it.
inline constexpr const char* kSquaresSpace = R"json({
  "format": "space/1", "family": "squares",
  "problem": {"dims": ["N"], "flops": "2*N", "bytes": "4*N"},
  "arguments": [ {"name": "N", "type": "int", "value": "N"},
                 {"name": "factor", "type": "float", "value": 1},
                 {"name": "x", "type": "float*", "count": "N"},
                 {"name": "y", "type": "float*", "count": 1, "role": "output"} ],
  "check": {"reference": {"kernel": "squares"}},
  "kernels": {"squares": {
    "source": "product.cu",
    "parameters": {"PARTS": {"values": [2, 8], "default": 2}},
    "scratch": [{"name": "parts", "type": "float*", "count": "PARTS"}],
    "steps": [
      {"entry": "square<${PARTS}>", "launch": {"grid": [1], "block": ["PARTS"]},
       "arguments": ["x", {"name": "each", "type": "int", "value": "N // PARTS"}, "parts"]},
      {"entry": "total", "launch": {"grid": [1], "block": [1]},
       "arguments": ["y", "factor", {"name": "parts_count", "type": "long long", "value": "PARTS"},
                     "parts"]}]}}})json";

inline constexpr const char* kSquaresSource = R"cuda(
template <int kParts>
__global__ void square(const float* x, int each, float* parts) {
  float sum = 0;
  for (int i = 0; i < each; ++i) sum += x[threadIdx.x * each + i] * x[threadIdx.x * each + i];
  parts[threadIdx.x] = sum;
}
__global__ void total(float* y, float factor, long long count, const float* parts) {
  float sum = 0;
  for (long long i = 0; i < count; ++i) sum += parts[i];
  *y = factor * sum;
}
)cuda";

/// The result of tuning it at a size.
inline Tuned squares(const std::string& size) {
  return {.size = size,
          .kernel = "squares",
          .config = R"({"PARTS":8})",
          .family = "squares",
          .space = kSquaresSpace,
          .source = kSquaresSource};
}

}  // namespace tuner::dispatch
