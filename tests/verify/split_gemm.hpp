// SPDX-License-Identifier: Apache-2.0
// A family of batched GEMMs with transposes, padded rows and buffers off any alignment, and a
// kernel of it that splits K over blocks and needs scratch. Small enough to be broken in every way.
#pragma once

#include "tuner/family/family.hpp"

#include <string>
#include <string_view>

namespace tuner::verify::split_gemm {

/// Every block leaves its part of the sum in `partials`; of the blocks of a tile the one that comes
/// last adds them up.
inline constexpr std::string_view kSource = R"(
template <int BLOCK, int SPLITS>
__global__ void split(int M, int N, int K, int trans_a, int trans_b, float alpha, const float* A,
                      int lda, const float* B, int ldb, float beta, float* C, int ldc,
                      long long stride_a, long long stride_b, long long stride_c, float* partials,
                      unsigned* arrived, float* unused) {
  const int row = blockIdx.y * BLOCK + threadIdx.y;
  const int col = blockIdx.x * BLOCK + threadIdx.x;
  const int batch = blockIdx.z / SPLITS;
  const int part = blockIdx.z % SPLITS;
  const bool inside = row < M && col < N;
  A += batch * stride_a;
  B += batch * stride_b;
  C += batch * stride_c;
  partials += (long long)batch * SPLITS * M * N;
  if (inside) {
    float sum = 0.0f;
    for (int k = K * part / SPLITS; k < K * (part + 1) / SPLITS; ++k) {
      sum += (trans_a ? A[k * lda + row] : A[row * lda + k]) *
             (trans_b ? B[col * ldb + k] : B[k * ldb + col]);
    }
    partials[(part * M + row) * N + col] = sum;
  }
  __threadfence();
  __syncthreads();
  __shared__ unsigned before;
  const int tile = (batch * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  if (threadIdx.x == 0 && threadIdx.y == 0) before = atomicAdd(&arrived[tile], 1u);
  __syncthreads();
  if (before != SPLITS - 1) return;
  __threadfence();
  if (inside) {
    float sum = 0.0f;
    for (int p = 0; p < SPLITS; ++p) sum += partials[(p * M + row) * N + col];
    float& c = C[row * ldc + col];
    c = beta == 0.0f ? alpha * sum : alpha * sum + beta * c;
  }
  if (threadIdx.x == 0 && threadIdx.y == 0) arrived[tile] = 0;
}
)";

/// TRANS is 1 for NN, 2 for TN, 3 for NT, 4 for TT; PAD is how many elements are left between rows.
inline constexpr std::string_view kDocument = R"json({
  "format": "space/1",
  "family": "split_gemm",
  "problem": {
    "dims": ["M", "N", "K", "BATCH", "TRANS", "PAD", "ALIGN"],
    "flops": "2*M*N*K*BATCH", "bytes": "4*BATCH*(M*K + K*N + M*N)"
  },
  "arguments": [
    {"name": "M", "type": "int", "value": "M"},
    {"name": "N", "type": "int", "value": "N"},
    {"name": "K", "type": "int", "value": "K"},
    {"name": "trans_a", "type": "int", "value": "(TRANS - 1) % 2"},
    {"name": "trans_b", "type": "int", "value": "(TRANS - 1) // 2"},
    {"name": "alpha", "type": "float", "value": 1},
    {"name": "A", "type": "float*", "count": "BATCH*(TRANS in [1, 3] ? M*(K + PAD) : K*(M + PAD))", "offset": "ALIGN % 4"},
    {"name": "lda", "type": "int", "value": "(TRANS in [1, 3] ? K : M) + PAD"},
    {"name": "B", "type": "float*", "count": "BATCH*(TRANS in [1, 2] ? K*(N + PAD) : N*(K + PAD))", "offset": "ALIGN % 4"},
    {"name": "ldb", "type": "int", "value": "(TRANS in [1, 2] ? N : K) + PAD"},
    {"name": "beta", "type": "float", "value": 0},
    {"name": "C", "type": "float*", "count": "BATCH*M*(N + PAD)", "offset": "ALIGN % 4", "role": "output"},
    {"name": "ldc", "type": "int", "value": "N + PAD"},
    {"name": "stride_a", "type": "long long", "value": "TRANS in [1, 3] ? M*(K + PAD) : K*(M + PAD)"},
    {"name": "stride_b", "type": "long long", "value": "TRANS in [1, 2] ? K*(N + PAD) : N*(K + PAD)"},
    {"name": "stride_c", "type": "long long", "value": "M*(N + PAD)"}
  ],
  "check": {
    "reference": {
      "op": "gemm", "m": "M", "n": "N", "k": "K", "a": "A", "b": "B", "c": "C", "alpha": "alpha", "beta": "beta",
      "trans_a": "(TRANS - 1) % 2", "trans_b": "(TRANS - 1) // 2", "batch": "BATCH",
      "lda": "(TRANS in [1, 3] ? K : M) + PAD", "ldb": "(TRANS in [1, 2] ? N : K) + PAD", "ldc": "N + PAD"
    },
    "accumulates": "K",
    "sizes": [[1, 1, 1, 1, 1, 1, 1], [5, 7, 9, 2, 2, 3, 2], [6, 7, 8, 2, 3, 1, 4], [9, 6, 5, 3, 4, 2, 3]],
    "cases": [{"set": {"alpha": 3, "beta": -2}, "reads": ["C"], "why": "both factors act"}]
  },
  "kernels": {
    "split": {
      "source": "split.cu",
      "entry": "split<${BLOCK},${SPLITS}>",
      "parameters": {
        "BLOCK": {"values": [4, 8], "default": 4},
        "SPLITS": {"values": [1, 2, 3], "default": 3}
      },
      "launch": {"grid": ["ceil_div(N, BLOCK)", "ceil_div(M, BLOCK)", "BATCH*SPLITS"], "block": ["BLOCK", "BLOCK"]},
      "scratch": [
        {"name": "partials", "type": "float*", "count": "BATCH*SPLITS*M*N"},
        {"name": "arrived", "type": "unsigned*", "count": "BATCH*ceil_div(N, BLOCK)*ceil_div(M, BLOCK)"},
        {"name": "unused", "type": "float*", "count": 0}
      ]
    }
  }
})json";

/// The family, its kernel's source replaced.
[[nodiscard]] inline family::Family family(std::string_view source = kSource,
                                           std::string_view document = kDocument) {
  return family::parse_family(
      document, "split_gemm.json",
      {{"split", {.name = "split.cu", .text = std::string(source), .headers = {}}}});
}

}  // namespace tuner::verify::split_gemm
