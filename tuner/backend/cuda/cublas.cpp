// SPDX-License-Identifier: Apache-2.0
#include "tuner/backend/cuda/cublas.hpp"

#include "tuner/backend/cuda/shared_library.hpp"
#include "tuner/core/error.hpp"

#include <fmt/format.h>

#include <cublas_v2.h>

#include <algorithm>

namespace tuner {

struct CublasApi {
  SharedLibrary library{fmt::format("libcublas.so.{}", CUBLAS_VER_MAJOR)};
  decltype(&cublasGetProperty) property = library.symbol("cublasGetProperty");
  decltype(&cublasGetStatusName) status_name = library.symbol("cublasGetStatusName");
  decltype(&cublasCreate_v2) create = library.symbol("cublasCreate_v2");
  decltype(&cublasDestroy_v2) destroy = library.symbol("cublasDestroy_v2");
  decltype(&cublasSetStream_v2) set_stream = library.symbol("cublasSetStream_v2");
  decltype(&cublasSetMathMode) set_math_mode = library.symbol("cublasSetMathMode");
  decltype(&cublasSgemm_v2_64) sgemm = library.symbol("cublasSgemm_v2_64");
  decltype(&cublasDgemm_v2_64) dgemm = library.symbol("cublasDgemm_v2_64");
  decltype(&cublasSgemmStridedBatched_64) sgemm_batched =
      library.symbol("cublasSgemmStridedBatched_64");
  decltype(&cublasDgemmStridedBatched_64) dgemm_batched =
      library.symbol("cublasDgemmStridedBatched_64");
};

namespace {

/// As `attempt` for the runtime's codes.
Expected<void, Failure> attempt(const CublasApi& api, cublasStatus_t status) {
  const auto failed = [&](Outcome outcome) {
    return Unexpected(Failure{
        outcome, fmt::format("{} ({})", api.status_name(status), static_cast<int>(status))});
  };
  switch (status) {
    case CUBLAS_STATUS_SUCCESS:
      return {};
    case CUBLAS_STATUS_ALLOC_FAILED:
    case CUBLAS_STATUS_INVALID_VALUE:
    case CUBLAS_STATUS_ARCH_MISMATCH:
    case CUBLAS_STATUS_NOT_SUPPORTED:
      return failed(Outcome::launch_error);
    default:
      return failed(Outcome::crashed);
  }
}

cublasOperation_t operation(Transpose transpose) {
  return transpose == Transpose::yes ? CUBLAS_OP_T : CUBLAS_OP_N;
}

/// cuBLAS wants 1 even where there are no rows.
std::int64_t leading(const MatrixLayout& layout) {
  return std::max<std::int64_t>(layout.ld, 1);
}

/// A row-major matrix is its transpose to cuBLAS, which counts by columns; so it is asked for
/// op(C)ᵀ = op(B)ᵀ·op(A)ᵀ, which is C = op(A)·op(B) in our memory: B and A change places, and what
/// is transposed stays so.
template <class Element, class Gemm, class BatchedGemm>
Enqueue gemm_by_rows(const CublasApi& api, cublasHandle_t handle, Gemm gemm,
                     BatchedGemm batched_gemm, const GemmCall& call, const Cublas::Matrices& at) {
  const auto* const a = reinterpret_cast<const Element*>(at.a);
  const auto* const b = reinterpret_cast<const Element*>(at.b);
  auto* const c = reinterpret_cast<Element*>(at.c);
  return [=, &api, shape = call.shape, alpha = static_cast<Element>(call.alpha),
          beta = static_cast<Element>(call.beta)] {
    const auto& [m, n, k, trans_a, trans_b, batch, a_lies, b_lies, c_lies] = shape;
    const cublasOperation_t op_a = operation(trans_a);
    const cublasOperation_t op_b = operation(trans_b);
    const cublasStatus_t status =
        batch == 1 ? gemm(handle, op_b, op_a, n, m, k, &alpha, b, leading(b_lies), a,
                          leading(a_lies), &beta, c, leading(c_lies))
                   : batched_gemm(handle, op_b, op_a, n, m, k, &alpha, b, leading(b_lies),
                                  b_lies.stride, a, leading(a_lies), a_lies.stride, &beta, c,
                                  leading(c_lies), c_lies.stride, batch);
    return attempt(api, status);
  };
}

}  // namespace

Cublas::Cublas(cudaStream_t stream) : stream_(stream), api_(std::make_unique<const CublasApi>()) {}

Cublas::~Cublas() {
  if (context_ != nullptr) api_->destroy(context_);
}

std::string Cublas::version() const {
  int major = 0;
  int minor = 0;
  int patch = 0;
  api_->property(MAJOR_VERSION, &major);
  api_->property(MINOR_VERSION, &minor);
  api_->property(PATCH_LEVEL, &patch);
  return fmt::format("cuBLAS {}.{}.{}", major, minor, patch);
}

cublasContext* Cublas::context() {
  if (context_ != nullptr) return context_;
  const auto require = [this](cublasStatus_t status) {
    if (status == CUBLAS_STATUS_SUCCESS) return;
    throw Error(ErrorCode::failure,
                fmt::format("cuBLAS cannot start: {}", api_->status_name(status)));
  };
  require(api_->create(&context_));
  require(api_->set_stream(context_, stream_));
  require(api_->set_math_mode(context_, CUBLAS_PEDANTIC_MATH));
  return context_;
}

Enqueue Cublas::gemm(const GemmCall& call, const Matrices& at) {
  switch (call.type) {
    case ElementType::f32:
      return gemm_by_rows<float>(*api_, context(), api_->sgemm, api_->sgemm_batched, call, at);
    case ElementType::f64:
      return gemm_by_rows<double>(*api_, context(), api_->dgemm, api_->dgemm_batched, call, at);
    default:
      throw Error(ErrorCode::usage,
                  fmt::format("cuBLAS multiplies float and double here, not {}", name(call.type)));
  }
}

}  // namespace tuner
