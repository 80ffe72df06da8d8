// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "benchmarks/gemm/contender.hpp"
#include "benchmarks/gemm/operands.hpp"
#include "tuner/backend/cuda/runtime.hpp"

#include <cstddef>
#include <memory>
#include <vector>

namespace tuner::backend {
class CublasLt;
}

namespace tuner::gemm_benchmark {

/// cublasLt with sums in single precision (double, 32-bit integers) and 32 MiB of workspace.
class CublasLtContenders {
 public:
  /// Throws Error(no_device) when cublasLt is not installed, Error(failure) when it cannot start.
  explicit CublasLtContenders(cudaStream_t stream);
  ~CublasLtContenders();
  CublasLtContenders(const CublasLtContenders&) = delete;
  CublasLtContenders& operator=(const CublasLtContenders&) = delete;

  /// The algorithms that its heuristic proposes for a shape, its favourite first, and `others` of
  /// all that it has, drawn at random; `kernel` says which each is. None when it has none. The
  /// operands must outlive them.
  [[nodiscard]] std::vector<Contender> contenders(const Shape& shape, const Operands& operands,
                                                  std::size_t others) const;

 private:
  cudaStream_t stream_;
  std::unique_ptr<const backend::CublasLt> library_;
  backend::DeviceMemory workspace_;
};

}  // namespace tuner::gemm_benchmark
