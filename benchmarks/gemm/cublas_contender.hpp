// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "benchmarks/gemm/contender.hpp"
#include "benchmarks/gemm/operands.hpp"
#include "tuner/backend/cuda/runtime.hpp"

#include <memory>
#include <string>

struct cublasContext;

namespace tuner::gemm_benchmark {

/// cuBLAS as an application meets it: default math mode, but for parts of sums that are rounded to
/// the type of C.
class CublasContenders {
 public:
  /// Throws Error(no_device) when cuBLAS is not installed, Error(failure) when it cannot start.
  explicit CublasContenders(cudaStream_t stream);
  ~CublasContenders();
  CublasContenders(const CublasContenders&) = delete;
  CublasContenders& operator=(const CublasContenders&) = delete;

  [[nodiscard]] std::string version() const;  ///< "cuBLAS 13.1.0"

  /// cublasSgemm, or cublasSgemmStridedBatched for a batch; for other types
  /// cublasGemmStridedBatchedEx. The operands must outlive it.
  [[nodiscard]] Contender contender(const Shape& shape, const Operands& operands) const;

 private:
  struct Api;
  [[nodiscard]] Expected<void, Failure> multiply(const Shape& shape, const OperandSet& set) const;
  [[nodiscard]] Expected<void, Failure> multiply_typed(const Shape& shape,
                                                       const OperandSet& set) const;

  std::unique_ptr<const Api> api_;
  backend::DeviceMemory workspace_;
  cublasContext* context_ = nullptr;
};

}  // namespace tuner::gemm_benchmark
