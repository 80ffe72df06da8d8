// SPDX-License-Identifier: Apache-2.0
// A small GEMM with a parameter, so small that it can be broken in every way; and its family.
#pragma once

#include "tuner/family/family.hpp"
#include "tuner/verify/verifier.hpp"

#include <string>
#include <string_view>

namespace tuner::verify::gemm {

inline constexpr std::string_view kSource = R"(
template <int BLOCK>
__global__ void gemm(int M, int N, int K, float alpha, const float* A, const float* B, float beta,
                     float* C) {
  const int row = blockIdx.y * BLOCK + threadIdx.y;
  const int col = blockIdx.x * BLOCK + threadIdx.x;
  if (row >= M || col >= N) return;
  float sum = 0.0f;
  for (int k = 0; k < K; ++k) sum += A[row * K + k] * B[k * N + col];
  float& c = C[row * N + col];
  c = beta == 0.0f ? alpha * sum : alpha * sum + beta * c;
}
)";

inline constexpr std::string_view kDocument = R"json({
  "format": "space/1",
  "family": "gemm",
  "problem": {"dims": ["M", "N", "K"], "flops": "2*M*N*K", "bytes": "4*(M*K + K*N + M*N)"},
  "arguments": [
    {"name": "M", "type": "int", "value": "M"},
    {"name": "N", "type": "int", "value": "N"},
    {"name": "K", "type": "int", "value": "K"},
    {"name": "alpha", "type": "float", "value": 1},
    {"name": "A", "type": "float*", "count": "M*K"},
    {"name": "B", "type": "float*", "count": "K*N"},
    {"name": "beta", "type": "float", "value": 0},
    {"name": "C", "type": "float*", "count": "M*N", "role": "output"}
  ],
  "check": {
    "reference": {"op": "gemm", "m": "M", "n": "N", "k": "K", "a": "A", "b": "B", "c": "C", "alpha": "alpha", "beta": "beta"},
    "accumulates": "K",
    "sizes": [[1, 1, 1], [6, 7, 5]],
    "cases": [{"set": {"alpha": 3, "beta": -2}, "reads": ["C"], "why": "both factors act"}]
  },
  "kernels": {
    "gemm": {
      "source": "gemm.cu",
      "entry": "gemm<${BLOCK}>",
      "parameters": {"BLOCK": {"values": [4, 8, 2048], "default": 4}},
      "constraints": [{"expr": "N >= BLOCK or N < 1000", "why": "never broken below 1000"}],
      "launch": {"grid": ["ceil_div(N, BLOCK)", "ceil_div(M, BLOCK)"], "block": ["BLOCK", "BLOCK"]},
      "check_sizes": [["BLOCK - 1", "BLOCK + 1", 3], ["BLOCK - 4", 1, 1]]
    }
  }
})json";

/// The family with a part of its document replaced.
[[nodiscard]] inline family::Family family(std::string_view from = "", std::string_view to = "") {
  std::string text(kDocument);
  text.replace(text.find(from), from.size(), to);
  return family::parse_family(
      text, "gemm.json",
      {{"gemm", {.name = "gemm.cu", .text = std::string(kSource), .headers = {}}}});
}

}  // namespace tuner::verify::gemm
