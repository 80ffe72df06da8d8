// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/gemm/cublas_contender.hpp"

#include "benchmarks/gemm/blas_status.hpp"
#include "tuner/backend/cuda/cublas_api.hpp"
#include "tuner/core/error.hpp"

#include <cublas_v2.h>

#include <cstdint>

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

struct CublasContenders::Api : backend::CublasApi {};

CublasContenders::CublasContenders(cudaStream_t stream)
    : api_(std::make_unique<const Api>()),
      workspace_(backend::make_device_memory(kWorkspace_bytes)) {
  require(blas_result(api_->create(&context_)), "start cuBLAS");
  // In this order: a new stream takes a workspace back.
  require(blas_result(api_->set_stream(context_, stream)), "give cuBLAS its stream");
  require(blas_result(api_->set_workspace(context_, workspace_.get(), kWorkspace_bytes)),
          "give cuBLAS its workspace");
  require(
      blas_result(api_->set_math_mode(
          context_, static_cast<cublasMath_t>(CUBLAS_DEFAULT_MATH |
                                              CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION))),
      "set cuBLAS's math mode");
}

CublasContenders::~CublasContenders() {
  if (context_ != nullptr) api_->destroy(context_);
}

std::string CublasContenders::version() const {
  return backend::cublas_version(*api_);
}

Expected<void, Failure> CublasContenders::multiply(const Shape& shape,
                                                   const OperandSet& set) const {
  const float one = 1;
  const float zero = 0;
  if (shape.batch == 1) {
    return blas_result(api_->sgemm(context_, operation(shape.trans_b), operation(shape.trans_a),
                                   shape.n, shape.m, shape.k, &one, floats(set.b), shape.ldb,
                                   floats(set.a), shape.lda, &zero, floats(set.c), shape.ldc));
  }
  return blas_result(api_->sgemm_batched(
      context_, operation(shape.trans_b), operation(shape.trans_a), shape.n, shape.m, shape.k, &one,
      floats(set.b), shape.ldb, matrix_b(shape).stride(), floats(set.a), shape.lda,
      matrix_a(shape).stride(), &zero, floats(set.c), shape.ldc, matrix_c(shape).stride(),
      shape.batch));
}

Expected<void, Failure> CublasContenders::multiply_typed(const Shape& shape,
                                                         const OperandSet& set) const {
  const auto type = static_cast<cudaDataType_t>(row(shape.type).cuda.value);
  const auto result = static_cast<cudaDataType_t>(row(shape.result).cuda.value);
  const double one_f64 = 1, zero_f64 = 0;
  const float one_f32 = 1, zero_f32 = 0;
  const std::int32_t one_s32 = 1, zero_s32 = 0;
  cublasComputeType_t compute = CUBLAS_COMPUTE_32F;
  const void* one = &one_f32;
  const void* zero = &zero_f32;
  if (shape.type == ElementType::tf32) compute = CUBLAS_COMPUTE_32F_FAST_TF32;
  if (shape.type == ElementType::f64) {
    compute = CUBLAS_COMPUTE_64F;
    one = &one_f64;
    zero = &zero_f64;
  } else if (shape.type == ElementType::s8) {
    compute = CUBLAS_COMPUTE_32I;
    one = &one_s32;
    zero = &zero_s32;
  }
  return blas_result(api_->gemm_batched_ex(
      context_, operation(shape.trans_b), operation(shape.trans_a), shape.n, shape.m, shape.k, one,
      set.b, type, shape.ldb, matrix_b(shape).stride(), set.a, type, shape.lda,
      matrix_a(shape).stride(), zero, set.c, result, shape.ldc, matrix_c(shape).stride(),
      shape.batch, compute, CUBLAS_GEMM_DEFAULT));
}

Contender CublasContenders::contender(const Shape& shape, const Operands& operands) const {
  // A row-major matrix is its transpose to cuBLAS, which counts by columns: Cᵀ = op(B)ᵀ·op(A)ᵀ.
  const bool is_float = shape.type == ElementType::f32;
  return {.role = Role::cublas,
          .kernel = {},
          .launch =
              [=, this, &operands](std::size_t index) {
                return is_float ? multiply(shape, operands.set(index))
                                : multiply_typed(shape, operands.set(index));
              },
          .before_capture = [] {}};
}

}  // namespace tuner::gemm_benchmark
