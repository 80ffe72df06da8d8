// SPDX-License-Identifier: Apache-2.0
// Products by cublasLt, whose algorithms can be chosen. For the .cpp files of this folder and the
// benchmarks.
#pragma once

#include "tuner/backend/call_addresses.hpp"
#include "tuner/backend/cuda/runtime.hpp"
#include "tuner/backend/cuda/shared_library.hpp"

#include <fmt/format.h>

#include <cublasLt.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tuner::backend {

struct CublasLtApi {
  SharedLibrary library = SharedLibrary::of_toolkit("libcublasLt");
  decltype(&cublasLtGetVersion) version = library.symbol("cublasLtGetVersion");
  decltype(&cublasLtGetStatusName) status_name = library.symbol("cublasLtGetStatusName");
  decltype(&cublasLtCreate) create = library.symbol("cublasLtCreate");
  decltype(&cublasLtDestroy) destroy = library.symbol("cublasLtDestroy");
  decltype(&cublasLtMatmulDescCreate) make_product = library.symbol("cublasLtMatmulDescCreate");
  decltype(&cublasLtMatmulDescDestroy) free_product = library.symbol("cublasLtMatmulDescDestroy");
  decltype(&cublasLtMatmulDescSetAttribute) set_product =
      library.symbol("cublasLtMatmulDescSetAttribute");
  decltype(&cublasLtMatrixLayoutCreate) make_layout = library.symbol("cublasLtMatrixLayoutCreate");
  decltype(&cublasLtMatrixLayoutDestroy) free_layout =
      library.symbol("cublasLtMatrixLayoutDestroy");
  decltype(&cublasLtMatrixLayoutSetAttribute) set_layout =
      library.symbol("cublasLtMatrixLayoutSetAttribute");
  decltype(&cublasLtMatmulPreferenceCreate) make_preference =
      library.symbol("cublasLtMatmulPreferenceCreate");
  decltype(&cublasLtMatmulPreferenceDestroy) free_preference =
      library.symbol("cublasLtMatmulPreferenceDestroy");
  decltype(&cublasLtMatmulPreferenceSetAttribute) set_preference =
      library.symbol("cublasLtMatmulPreferenceSetAttribute");
  decltype(&cublasLtMatmulAlgoGetHeuristic) heuristic =
      library.symbol("cublasLtMatmulAlgoGetHeuristic");
  decltype(&cublasLtMatmulAlgoGetIds) algorithm_ids = library.symbol("cublasLtMatmulAlgoGetIds");
  decltype(&cublasLtMatmulAlgoInit) init_algorithm = library.symbol("cublasLtMatmulAlgoInit");
  decltype(&cublasLtMatmulAlgoCheck) check_algorithm = library.symbol("cublasLtMatmulAlgoCheck");
  decltype(&cublasLtMatmulAlgoCapGetAttribute) capability =
      library.symbol("cublasLtMatmulAlgoCapGetAttribute");
  decltype(&cublasLtMatmulAlgoConfigGetAttribute) attribute =
      library.symbol("cublasLtMatmulAlgoConfigGetAttribute");
  decltype(&cublasLtMatmulAlgoConfigSetAttribute) set_attribute =
      library.symbol("cublasLtMatmulAlgoConfigSetAttribute");
  decltype(&cublasLtMatmul) multiply = library.symbol("cublasLtMatmul");
};

/// As `attempt` for the runtime's codes.
[[nodiscard]] Expected<void, Failure> attempt(const CublasLtApi& api, cublasStatus_t status);

/// cublasLt of the current device. Safe to use from many threads at once.
class CublasLt {
 public:
  /// What cuBLAS takes for itself on Hopper; algorithms that need more are not offered.
  static constexpr std::size_t kWorkspaceBytes = std::size_t{32} << 20;

  /// Throws Error(no_device) when cublasLt is not installed, Error(failure) when it cannot start.
  CublasLt();
  ~CublasLt();
  CublasLt(const CublasLt&) = delete;
  CublasLt& operator=(const CublasLt&) = delete;

  [[nodiscard]] const CublasLtApi& api() const { return api_; }
  [[nodiscard]] cublasLtHandle_t handle() const { return handle_; }

 private:
  CublasLtApi api_;
  cublasLtHandle_t handle_ = nullptr;
};

/// An algorithm with what it needs.
struct LtAlgorithm {
  cublasLtMatmulAlgo_t algorithm{};
  std::uint32_t alignment_bytes = 16;  ///< of all matrices
  std::size_t workspace_bytes = 0;
};

/// The text that an algorithm is stored as; it holds for one version of cublasLt.
[[nodiscard]] std::string lt_text(const LtAlgorithm& algorithm, std::size_t version);
/// The algorithm of such a text, without its workspace; launch_error for one of another version, or
/// what is no such text.
[[nodiscard]] Expected<LtAlgorithm, Failure> lt_algorithm(const std::string& text,
                                                          std::size_t version);

/// A product as cublasLt has it, which counts by columns: Cᵀ = op(B)ᵀ·op(A)ᵀ, where a row-major
/// matrix is its transpose in the same memory. Sums are in float (double, 32-bit integers); parts
/// of them are not rounded to the type of C.
class LtProduct {
 public:
  /// Whether cublasLt has such an epilogue: it has no bias of rows.
  [[nodiscard]] static bool has(const Epilogue& epilogue);
  /// Throws Error(failure) when cublasLt cannot describe it. The library must outlive it.
  /// `bias`: where one like that of the epilogue lies.
  LtProduct(const CublasLt& library, const blas::Operation& operation, const void* bias = nullptr);
  ~LtProduct();
  LtProduct(const LtProduct&) = delete;
  LtProduct& operator=(const LtProduct&) = delete;

  /// The first that the heuristic proposes for matrices aligned so, its favourite first; at most
  /// `most`, of which cublasLt 13 gives 8.
  [[nodiscard]] std::vector<LtAlgorithm> proposed(int most, std::uint32_t alignment_bytes) const;
  /// `count` configurations that the library takes for this product, drawn from all its algorithms,
  /// tiles, stages, clusters, orders of tiles and split-K; the same each time, and fewer where few
  /// are taken.
  [[nodiscard]] std::vector<LtAlgorithm> drawn(std::size_t count,
                                               std::uint32_t alignment_bytes) const;
  /// The algorithm with the workspace that it needs here; launch_error when the library does not
  /// take it for this product.
  [[nodiscard]] Expected<LtAlgorithm, Failure> checked(LtAlgorithm algorithm) const;
  /// "algorithm 66 tile 20 stages 36 split-K 1 cluster 3".
  [[nodiscard]] std::string describe(const LtAlgorithm& algorithm) const;

  /// Enqueues it; fails as run_cublas.
  [[nodiscard]] Expected<void, Failure> multiply(const blas::Addresses& operands,
                                                 const LtAlgorithm& algorithm, void* workspace,
                                                 cudaStream_t stream) const;

 private:
  [[nodiscard]] cublasLtMatrixLayout_t layout(const blas::MatrixLayout& matrix, cudaDataType_t type,
                                              std::int64_t batch) const;
  void set_transpose(cublasLtMatmulDescAttributes_t which, Transpose transpose);
  void set_epilogue(const Epilogue& epilogue, const void* bias);
  [[nodiscard]] std::vector<std::uint32_t> capabilities(
      const cublasLtMatmulAlgo_t& algorithm, cublasLtMatmulAlgoCapAttributes_t which) const;
  void release();

  const CublasLt& library_;
  cudaDataType_t type_, result_, factors_;
  cublasComputeType_t compute_;
  bool adds_residual_, has_bias_;
  cublasLtMatmulDesc_t product_ = nullptr;
  cublasLtMatrixLayout_t first_ = nullptr, second_ = nullptr, c_ = nullptr;
};

/// A product by one of its algorithms.
struct LtChoice {
  std::shared_ptr<const LtProduct> product;
  LtAlgorithm algorithm;
};
/// The product by the algorithm of a text; launch_error where that is not of this library or the
/// product does not take it. `bias` as of LtProduct.
[[nodiscard]] Expected<LtChoice, Failure> lt_choice(const CublasLt& library,
                                                    const blas::Operation& operation,
                                                    const std::string& algorithm,
                                                    const void* bias = nullptr);
/// Whether cublasLt has algorithms for an operation at all: for products, but with a bias of rows.
[[nodiscard]] bool has_lt_algorithms(const blas::Operation& operation);
/// As Backend::library_algorithms, for an operation that has some: what the heuristic proposes.
[[nodiscard]] std::vector<std::string> lt_algorithms(const CublasLt& library,
                                                     const blas::Operation& operation,
                                                     const blas::Addresses& operands);

/// The greatest power of two up to 16 bytes at which all three matrices begin: what an algorithm
/// may rely on. Applications align no better, and no algorithm gains by it.
[[nodiscard]] std::uint32_t alignment_bytes(const blas::Addresses& operands);

}  // namespace tuner::backend
