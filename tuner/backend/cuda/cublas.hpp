// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/backend/backend.hpp"
#include "tuner/backend/cuda/runtime.hpp"

#include <memory>
#include <string>

struct cublasContext;

namespace tuner::backend {

struct CublasApi;

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

  /// Where on the device the first matrices of a call lie.
  struct Matrices {
    const std::byte* a;
    const std::byte* b;
    std::byte* c;
  };
  /// The call: cublasSgemm or cublasDgemm; for a batch of several their strided batched form.
  [[nodiscard]] Enqueue gemm(const GemmCall& call, const Matrices& at);
  /// The call: cublasSgeam or cublasDgeam.
  [[nodiscard]] Enqueue geam(const GeamCall& call, const Matrices& at);

 private:
  /// The library's state, made when first needed: it takes 0.1 s and device memory.
  [[nodiscard]] cublasContext* context();

  cudaStream_t stream_;
  std::unique_ptr<const CublasApi> api_;
  cublasContext* context_ = nullptr;
};

}  // namespace tuner::backend
