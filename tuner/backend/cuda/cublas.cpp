// SPDX-License-Identifier: Apache-2.0
#include "tuner/backend/cuda/cublas.hpp"

#include "tuner/backend/cuda/shared_library.hpp"
#include "tuner/core/error.hpp"

#include <fmt/format.h>

#include <cublas_v2.h>

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

/// A row-major matrix is its transpose to cuBLAS, which counts by columns; so it is asked for
/// Cᵀ = Bᵀ·Aᵀ, which is C = A·B in our memory without a transposition.
template <class Element, class Gemm>
Enqueue gemm_by_rows(const CublasApi& api, cublasHandle_t handle, Gemm gemm, const GemmCall& call,
                     const std::byte* a, const std::byte* b, std::byte* c) {
  return [=, &api, m = call.m, n = call.n, k = call.k, alpha = static_cast<Element>(call.alpha),
          beta = static_cast<Element>(call.beta)] {
    return attempt(
        api,
        gemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, m, k, &alpha, reinterpret_cast<const Element*>(b),
             n, reinterpret_cast<const Element*>(a), k, &beta, reinterpret_cast<Element*>(c), n));
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

Enqueue Cublas::gemm(const GemmCall& call, const std::byte* a, const std::byte* b, std::byte* c) {
  switch (call.type) {
    case ElementType::f32:
      return gemm_by_rows<float>(*api_, context(), api_->sgemm, call, a, b, c);
    case ElementType::f64:
      return gemm_by_rows<double>(*api_, context(), api_->dgemm, call, a, b, c);
    default:
      throw Error(ErrorCode::usage,
                  fmt::format("cuBLAS multiplies float and double here, not {}", name(call.type)));
  }
}

}  // namespace tuner
