// SPDX-License-Identifier: Apache-2.0
// cuBLAS and cublasLt as contenders, and what the kernels that they launch are called.
#pragma once

#include "benchmarks/gemm/contender.hpp"
#include "tuner/backend/cuda/runtime.hpp"

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

struct cublasContext;

namespace tuner::backend {
class CublasLt;
}

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

/// A kernel's name for people from the symbol in its image: demangled, and of
/// "void cutlass::Kernel2<cutlass_80_simt_sgemm_256x128_8x4_nn_align1>(…)" what tells it apart.
[[nodiscard]] std::string short_kernel_name(const std::string& symbol);

/// The kernels of a graph in their order, joined by " + "; what is not a kernel is left out. Empty
/// where the driver does not tell.
[[nodiscard]] std::string kernel_names(const backend::Graph& graph);

}  // namespace tuner::gemm_benchmark
