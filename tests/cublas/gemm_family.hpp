// SPDX-License-Identifier: Apache-2.0
// A family "gemm" with a kernel that is compiled in a moment.
#pragma once

#include "tests/dispatch/product_family.hpp"

#include <string>
#include <vector>

namespace tuner::cublas {

inline constexpr const char* kGemmSpace = R"json({
  "format": "space/1", "family": "gemm",
  "problem": {
    "dims": ["M", "N", "K", {"name": "BATCH", "default": 1},
             {"name": "TRANS_A", "values": [0, 1], "default": 0},
             {"name": "TRANS_B", "values": [0, 1], "default": 0},
             {"name": "LDA", "default": "TRANS_A ? M : K"},
             {"name": "LDB", "default": "TRANS_B ? K : N"},
             {"name": "LDC", "default": "N"},
             {"name": "TYPE", "default": "f32", "types": {
               "f32": {"A": "f32", "C": "f32", "compute": "f32"},
               "bf16": {"A": "bf16", "C": "bf16", "compute": "f32"},
               "f16": {"A": "f16", "C": "f16", "compute": "f32"},
               "f64": {"A": "f64", "C": "f64", "compute": "f64"},
               "s8": {"A": "s8", "C": "s32", "compute": "s32"}}}],
    "flops": "2*BATCH*M*N*K", "bytes": "BATCH*(bytes(A)*(M*K + K*N) + bytes(C)*M*N)" },
  "arguments": [
    {"name": "M", "type": "int", "value": "M"},
    {"name": "N", "type": "int", "value": "N"},
    {"name": "K", "type": "int", "value": "K"},
    {"name": "alpha", "type": "${compute}", "value": 1},
    {"name": "A", "type": "${A}*", "count": "BATCH*(TRANS_A ? K : M)*LDA"},
    {"name": "lda", "type": "int", "value": "LDA"},
    {"name": "B", "type": "${A}*", "count": "BATCH*(TRANS_B ? N : K)*LDB"},
    {"name": "ldb", "type": "int", "value": "LDB"},
    {"name": "beta", "type": "${compute}", "value": 0},
    {"name": "C", "type": "${C}*", "count": "BATCH*M*LDC", "role": "output"},
    {"name": "ldc", "type": "int", "value": "LDC"} ],
  "check": {
    "reference": {"op": "gemm", "m": "M", "n": "N", "k": "K", "a": "A", "b": "B", "c": "C",
                  "alpha": "alpha", "beta": "beta", "trans_a": "TRANS_A", "trans_b": "TRANS_B",
                  "lda": "LDA", "ldb": "LDB", "ldc": "LDC", "batch": "BATCH"},
    "accumulates": "K", "sizes": [[1, 1, 1]] },
  "kernels": {
    "plain": {
      "source": "product.cu", "entry": "plain<${A},${C},${compute},${TRANS_A},${TRANS_B},${ROWS}>",
      "parameters": { "ROWS": {"values": [1, 2], "default": 1} },
      "launch": {"grid": ["ceil_div(M, ROWS)", 1, "BATCH"], "block": [1]} } } })json";

inline constexpr const char* kGemmSource = R"cuda(
#include <cuda_bf16.h>
#include <cuda_fp16.h>
template <class Matrix, class Result, class Sum, int kTransA, int kTransB, int kRows>
__global__ void plain(int M, int N, int K, Sum alpha, const Matrix* A, int lda, const Matrix* B,
                      int ldb, Sum beta, Result* C, int ldc) {
  A += blockIdx.z * (long long)(kTransA ? K : M) * lda;
  B += blockIdx.z * (long long)(kTransB ? N : K) * ldb;
  C += blockIdx.z * (long long)M * ldc;
  for (int m = blockIdx.x * kRows; m < M && m < (blockIdx.x + 1) * kRows; ++m) {
    for (int n = 0; n < N; ++n) {
      Sum sum = 0;
      for (int k = 0; k < K; ++k) {
        sum += Sum(kTransA ? A[k * lda + m] : A[m * lda + k]) *
               Sum(kTransB ? B[n * ldb + k] : B[k * ldb + n]);
      }
      C[m * ldc + n] = Result(alpha * sum + (beta == 0 ? Sum(0) : beta * Sum(C[m * ldc + n])));
    }
  }
}
)cuda";

/// The family "gemm_tensor", whose kernels have epilogues: of the one above, with what it lacks.
inline std::string tensor_space() {
  std::string text = kGemmSpace;
  const auto put = [&](std::string_view before, std::string_view added) {
    text.insert(text.find(before), added);
  };
  text.replace(text.find("\"gemm\","), 7, "\"gemm_tensor\",");
  put(R"({"name": "TYPE")",
      R"({"name": "BIAS", "values": [0, 1, 2], "default": 0},
         {"name": "ACTIVATION", "values": [0, 1, 2], "default": 0},
         {"name": "RESIDUAL", "values": [0, 1], "default": 0},)");
  put(R"({"name": "ldc")",
      R"({"name": "bias", "type": "${C}*", "count": "BIAS == 1 ? N : BIAS == 2 ? M : 1"},
         {"name": "residual", "type": "${C}*", "count": "RESIDUAL ? BATCH*M*LDC : 1"},)");
  put(R"("batch": "BATCH"})",
      R"("epilogue": {"bias": "bias", "bias_kind": "BIAS", "activation": "ACTIVATION",
                      "residual": "residual", "has_residual": "RESIDUAL"}, )");
  text.replace(text.find("${ROWS}>"), 8, "${ROWS},${BIAS},${ACTIVATION}>");
  return text;
}

inline constexpr const char* kTensorSource = R"cuda(
#include <cuda_bf16.h>
#include <cuda_fp16.h>
template <class Matrix, class Result, class Sum, int kTransA, int kTransB, int kRows, int kBias,
          int kActivation>
__global__ void plain(int M, int N, int K, Sum alpha, const Matrix* A, int lda, const Matrix* B,
                      int ldb, Sum beta, Result* C, const Result* bias, const Result* residual,
                      int ldc) {
  for (int m = blockIdx.x * kRows; m < M && m < (blockIdx.x + 1) * kRows; ++m) {
    for (int n = 0; n < N; ++n) {
      Sum sum = 0;
      for (int k = 0; k < K; ++k) {
        sum += Sum(kTransA ? A[k * lda + m] : A[m * lda + k]) *
               Sum(kTransB ? B[n * ldb + k] : B[k * ldb + n]);
      }
      sum = alpha * sum + (beta == 0 ? Sum(0) : beta * Sum(C[m * ldc + n]));
      if (kBias == 1) sum += Sum(bias[n]);
      C[m * ldc + n] = Result(kActivation == 1 && sum < 0 ? Sum(0) : sum);
    }
  }
}
)cuda";

/// What says that a kernel was found to be faster than the library at sizes, by rows.
inline std::vector<dispatch::Tuned> tuned_gemm(const std::vector<std::string>& sizes,
                                               double ratio_to_library = 2,
                                               const std::string& family = "gemm") {
  const bool is_tensor = family == "gemm_tensor";
  std::vector<dispatch::Tuned> all;
  for (const std::string& size : sizes) {
    all.push_back({.size = size,
                   .kernel = "plain",
                   .config = R"({"ROWS":2})",
                   .median_ns = 1e6,
                   .ratio_to_library = ratio_to_library,
                   .family = family,
                   .space = is_tensor ? tensor_space() : kGemmSpace,
                   .source = is_tensor ? kTensorSource : kGemmSource});
  }
  return all;
}

}  // namespace tuner::cublas
