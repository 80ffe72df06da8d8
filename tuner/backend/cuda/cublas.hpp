// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/backend/call_addresses.hpp"
#include "tuner/backend/cuda/runtime.hpp"

#include <memory>
#include <string>
#include <vector>

struct cublasContext;

namespace tuner::backend {

struct CublasApi;
class CublasLt;

/// cuBLAS on one stream, without tensor cores that round inputs: CUBLAS_PEDANTIC_MATH.
class Cublas {
 public:
  /// Throws Error(no_device) when cuBLAS is not installed. Touches no device yet.
  explicit Cublas(cudaStream_t stream);
  ~Cublas();
  Cublas(const Cublas&) = delete;
  Cublas& operator=(const Cublas&) = delete;

  /// "cuBLAS 13.1.0".
  [[nodiscard]] std::string version() const;

  /// What enqueues the operation (run_cublas).
  [[nodiscard]] Enqueue prepare(const blas::Operation& operation, const blas::Addresses& operands);
  /// What enqueues it by an algorithm of `algorithms`; launch_error where this library lacks it.
  [[nodiscard]] Expected<Enqueue, Failure> prepare(const blas::Operation& operation,
                                                   const blas::Addresses& operands,
                                                   const std::string& algorithm);
  /// As Backend::library_algorithms: those that cublasLt's heuristic proposes.
  [[nodiscard]] std::vector<std::string> algorithms(const blas::Operation& operation,
                                                    const blas::Addresses& operands);

 private:
  /// The library's state, made when first needed: it takes 0.1 s and device memory.
  [[nodiscard]] cublasContext* context();
  /// Likewise, with a workspace.
  [[nodiscard]] const CublasLt& lt();
  /// By the algorithm that cublasLt proposes first.
  [[nodiscard]] Enqueue prepare_first(const blas::Operation& operation,
                                      const blas::Addresses& operands);

  cudaStream_t stream_;
  std::unique_ptr<const CublasApi> api_;
  cublasContext* context_ = nullptr;
  std::unique_ptr<const CublasLt> lt_;
  DeviceMemory lt_workspace_;
};

}  // namespace tuner::backend
