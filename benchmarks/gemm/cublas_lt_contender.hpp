// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "benchmarks/gemm/contender.hpp"
#include "benchmarks/gemm/operands.hpp"
#include "tuner/backend/cuda/runtime.hpp"

#include <memory>
#include <string>
#include <vector>

struct cublasLtContext;

namespace tuner::gemm_benchmark {

/// cublasLt in single precision throughout (CUBLAS_COMPUTE_32F) with 32 MiB of workspace.
class CublasLtContenders {
 public:
  /// Throws Error(no_device) when cublasLt is not installed, Error(failure) when it cannot start.
  explicit CublasLtContenders(cudaStream_t stream);
  ~CublasLtContenders();
  CublasLtContenders(const CublasLtContenders&) = delete;
  CublasLtContenders& operator=(const CublasLtContenders&) = delete;

  /// The first 16 that its heuristics propose for a shape, its favourite first; `kernel` says which
  /// algorithm each is. None when it has none. The operands must outlive them.
  [[nodiscard]] std::vector<Contender> contenders(const Shape& shape,
                                                  const Operands& operands) const;

 private:
  struct Api;
  class Problem;

  cudaStream_t stream_;
  std::unique_ptr<const Api> api_;
  backend::DeviceMemory workspace_;
  cublasLtContext* context_ = nullptr;
};

}  // namespace tuner::gemm_benchmark
