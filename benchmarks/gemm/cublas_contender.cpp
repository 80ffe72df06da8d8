// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/gemm/cublas_contender.hpp"

#include "benchmarks/gemm/blas_status.hpp"
#include "tuner/backend/cuda/shared_library.hpp"
#include "tuner/core/error.hpp"

#include <fmt/format.h>

#include <cublas_v2.h>

namespace tuner::gemm_benchmark {
namespace {

/// What cuBLAS takes for itself on Hopper. Given to it, so that a captured launch allocates
/// nothing.
constexpr std::size_t kWorkspace_bytes = std::size_t{32} << 20;

cublasOperation_t operation(std::int64_t transposed) {
  return transposed == 0 ? CUBLAS_OP_N : CUBLAS_OP_T;
}

float* floats(std::byte* memory) {
  return reinterpret_cast<float*>(memory);
}

}  // namespace

struct CublasContenders::Api {
  backend::SharedLibrary library{fmt::format("libcublas.so.{}", CUBLAS_VER_MAJOR)};
  decltype(&cublasGetProperty) property = library.symbol("cublasGetProperty");
  decltype(&cublasCreate_v2) create = library.symbol("cublasCreate_v2");
  decltype(&cublasDestroy_v2) destroy = library.symbol("cublasDestroy_v2");
  decltype(&cublasSetStream_v2) set_stream = library.symbol("cublasSetStream_v2");
  decltype(&cublasSetWorkspace_v2) set_workspace = library.symbol("cublasSetWorkspace_v2");
  decltype(&cublasSgemm_v2_64) sgemm = library.symbol("cublasSgemm_v2_64");
  decltype(&cublasSgemmStridedBatched_64) batched = library.symbol("cublasSgemmStridedBatched_64");
};

CublasContenders::CublasContenders(cudaStream_t stream)
    : api_(std::make_unique<const Api>()),
      workspace_(backend::make_device_memory(kWorkspace_bytes)) {
  require(blas_result(api_->create(&context_)), "start cuBLAS");
  // In this order: a new stream takes a workspace back.
  require(blas_result(api_->set_stream(context_, stream)), "give cuBLAS its stream");
  require(blas_result(api_->set_workspace(context_, workspace_.get(), kWorkspace_bytes)),
          "give cuBLAS its workspace");
}

CublasContenders::~CublasContenders() {
  if (context_ != nullptr) api_->destroy(context_);
}

std::string CublasContenders::version() const {
  int major = 0;
  int minor = 0;
  int patch = 0;
  api_->property(MAJOR_VERSION, &major);
  api_->property(MINOR_VERSION, &minor);
  api_->property(PATCH_LEVEL, &patch);
  return fmt::format("cuBLAS {}.{}.{}", major, minor, patch);
}

Contender CublasContenders::contender(const Shape& shape, const Operands& operands) const {
  // A row-major matrix is its transpose to cuBLAS, which counts by columns: Cᵀ = op(B)ᵀ·op(A)ᵀ.
  const auto launch = [=, this, &operands](std::size_t index) {
    const OperandSet set = operands.set(index);
    const float one = 1;
    const float zero = 0;
    if (shape.batch == 1) {
      return blas_result(api_->sgemm(context_, operation(shape.trans_b), operation(shape.trans_a),
                                     shape.n, shape.m, shape.k, &one, floats(set.b), shape.ldb,
                                     floats(set.a), shape.lda, &zero, floats(set.c), shape.ldc));
    }
    return blas_result(api_->batched(context_, operation(shape.trans_b), operation(shape.trans_a),
                                     shape.n, shape.m, shape.k, &one, floats(set.b), shape.ldb,
                                     matrix_b(shape).stride(), floats(set.a), shape.lda,
                                     matrix_a(shape).stride(), &zero, floats(set.c), shape.ldc,
                                     matrix_c(shape).stride(), shape.batch));
  };
  return {.role = Role::cublas, .kernel = {}, .launch = launch, .before_capture = [] {}};
}

}  // namespace tuner::gemm_benchmark
