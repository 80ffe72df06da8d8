// SPDX-License-Identifier: Apache-2.0
#include "tuner/backend/cuda/cublas.hpp"

#include "tuner/backend/cuda/cublas_api.hpp"
#include "tuner/backend/cuda/cublas_lt.hpp"
#include "tuner/core/error.hpp"

#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <variant>

namespace tuner::backend {
namespace {

cublasOperation_t cublas_transpose(Transpose transpose) {
  return transpose == Transpose::yes ? CUBLAS_OP_T : CUBLAS_OP_N;
}

/// cuBLAS wants 1 even where there are no rows.
std::int64_t leading(const blas::MatrixLayout& layout) {
  return std::max<std::int64_t>(layout.ld, 1);
}

/// A row-major matrix is its transpose to cuBLAS, which counts by columns; so it is asked for
/// op(C)ᵀ = op(B)ᵀ·op(A)ᵀ, which is C = op(A)·op(B) in our memory: B and A change places, and what
/// is transposed stays so.
template <class Element, class Gemm, class BatchedGemm>
cublasStatus_t gemm_by_rows(cublasHandle_t handle, Gemm gemm, BatchedGemm batched_gemm,
                            const blas::GemmShape& shape, const blas::Addresses& operands) {
  const auto* const a = static_cast<const Element*>(operands[blas::kA]);
  const auto* const b = static_cast<const Element*>(operands[blas::kB]);
  auto* const c = static_cast<Element*>(blas::result_address(operands));
  const auto alpha = static_cast<Element>(operands.alpha);
  const auto beta = static_cast<Element>(operands.beta);
  const auto& [m, n, k, trans_a, trans_b, batch, a_lies, b_lies, c_lies] = shape;
  const cublasOperation_t op_a = cublas_transpose(trans_a);
  const cublasOperation_t op_b = cublas_transpose(trans_b);
  return batch == 1 ? gemm(handle, op_b, op_a, n, m, k, &alpha, b, leading(b_lies), a,
                           leading(a_lies), &beta, c, leading(c_lies))
                    : batched_gemm(handle, op_b, op_a, n, m, k, &alpha, b, leading(b_lies),
                                   b_lies.stride, a, leading(a_lies), a_lies.stride, &beta, c,
                                   leading(c_lies), c_lies.stride, batch);
}

/// As gemm_by_rows: it is asked for op(C)ᵀ = op(A)ᵀ + op(B)ᵀ, and what is transposed stays so.
template <class Element, class Geam>
cublasStatus_t geam_by_rows(cublasHandle_t handle, Geam geam, const blas::GeamShape& shape,
                            const blas::Addresses& operands) {
  const auto alpha = static_cast<Element>(operands.alpha);
  const auto beta = static_cast<Element>(operands.beta);
  return geam(handle, cublas_transpose(shape.trans_a), cublas_transpose(shape.trans_b), shape.n,
              shape.m, &alpha, static_cast<const Element*>(operands[blas::kA]), leading(shape.a),
              &beta, static_cast<const Element*>(operands[blas::kB]), leading(shape.b),
              static_cast<Element*>(blas::result_address(operands)), leading(shape.c));
}

Unexpected<Failure> no_such_type(std::string_view verb, family::ElementType type) {
  return Unexpected(Failure{Outcome::launch_error,
                            fmt::format("cuBLAS {} no matrices of {}", verb, family::name(type))});
}

/// Runs PRODUCT with tensor cores allowed, which pedantic mode, the handle's, excludes. In double
/// precision they round as fused multiply-add does; sums of shorter types stay in their own type.
template <class Product>
cublasStatus_t with_tensor_cores(const CublasApi& api, cublasHandle_t handle,
                                 const Product& product) {
  api.set_math_mode(handle,
                    static_cast<cublasMath_t>(CUBLAS_DEFAULT_MATH |
                                              CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION));
  const cublasStatus_t status = product();
  api.set_math_mode(handle, CUBLAS_PEDANTIC_MATH);
  return status;
}

/// As gemm_by_rows, of types of 16 and 8 bits and tf32, with sums and factors in SUM: cublasGemmEx.
template <class Sum>
cublasStatus_t short_gemm_by_rows(const CublasApi& api, cublasHandle_t handle,
                                  const blas::Operation& operation, const blas::GemmShape& shape,
                                  const blas::Addresses& operands) {
  const auto of = [](family::ElementType type) {
    return static_cast<cudaDataType_t>(family::row(type).cuda.value);
  };
  const cudaDataType_t type = of(operation.type), result = of(operation.result_type());
  const auto alpha = static_cast<Sum>(operands.alpha);
  const auto beta = static_cast<Sum>(operands.beta);
  const cublasComputeType_t compute = std::is_integral_v<Sum> ? CUBLAS_COMPUTE_32I
                                      : operation.type == family::ElementType::tf32
                                          ? CUBLAS_COMPUTE_32F_FAST_TF32
                                          : CUBLAS_COMPUTE_32F;
  const auto& [m, n, k, trans_a, trans_b, batch, a_lies, b_lies, c_lies] = shape;
  const cublasOperation_t op_a = cublas_transpose(trans_a);
  const cublasOperation_t op_b = cublas_transpose(trans_b);
  const void* const a = operands[blas::kA];
  const void* const b = operands[blas::kB];
  void* const c = blas::result_address(operands);
  return batch == 1 ? api.gemm_ex(handle, op_b, op_a, n, m, k, &alpha, b, type, leading(b_lies), a,
                                  type, leading(a_lies), &beta, c, result, leading(c_lies), compute,
                                  CUBLAS_GEMM_DEFAULT)
                    : api.gemm_batched_ex(handle, op_b, op_a, n, m, k, &alpha, b, type,
                                          leading(b_lies), b_lies.stride, a, type, leading(a_lies),
                                          a_lies.stride, &beta, c, result, leading(c_lies),
                                          c_lies.stride, batch, compute, CUBLAS_GEMM_DEFAULT);
}

Expected<void, Failure> run(const CublasApi& api, cublasHandle_t handle,
                            const blas::Operation& operation, const blas::GemmShape& shape,
                            const blas::Addresses& operands) {
  if (!blas::library_multiplies(operation.type, operation.result_type()) ||
      blas::only_lt_multiplies(operation.type)) {
    return no_such_type("multiplies", operation.type);
  }
  if (operation.type == family::ElementType::f32) {
    return attempt(api, gemm_by_rows<float>(handle, api.sgemm, api.sgemm_batched, shape, operands));
  }
  return attempt(
      api, with_tensor_cores(api, handle, [&] {
        if (operation.type == family::ElementType::f64) {
          return gemm_by_rows<double>(handle, api.dgemm, api.dgemm_batched, shape, operands);
        }
        return operation.type == family::ElementType::s8
                   ? short_gemm_by_rows<std::int32_t>(api, handle, operation, shape, operands)
                   : short_gemm_by_rows<float>(api, handle, operation, shape, operands);
      }));
}

Expected<void, Failure> run(const CublasApi& api, cublasHandle_t handle,
                            const blas::Operation& operation, const blas::GeamShape& shape,
                            const blas::Addresses& operands) {
  if (!family::is_floating(operation.type)) return no_such_type("adds", operation.type);
  return attempt(api, operation.type == family::ElementType::f32
                          ? geam_by_rows<float>(handle, api.sgeam, shape, operands)
                          : geam_by_rows<double>(handle, api.dgeam, shape, operands));
}

}  // namespace

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

std::string cublas_version(const CublasApi& api) {
  int major = 0;
  int minor = 0;
  int patch = 0;
  api.property(MAJOR_VERSION, &major);
  api.property(MINOR_VERSION, &minor);
  api.property(PATCH_LEVEL, &patch);
  return fmt::format("cuBLAS {}.{}.{}", major, minor, patch);
}

Expected<cublasHandle_t, Failure> make_cublas_handle(const CublasApi& api) {
  cublasHandle_t handle = nullptr;
  if (auto made = attempt(api, api.create(&handle)); !made) return Unexpected(made.error());
  if (auto set = attempt(api, api.set_math_mode(handle, CUBLAS_PEDANTIC_MATH)); !set) {
    api.destroy(handle);
    return Unexpected(set.error());
  }
  return handle;
}

Expected<void, Failure> run_cublas(const CublasApi& api, cublasHandle_t handle,
                                   const blas::Operation& operation,
                                   const blas::Addresses& operands) {
  return std::visit([&](const auto& shape) { return run(api, handle, operation, shape, operands); },
                    operation.shape);
}

Cublas::Cublas(cudaStream_t stream) : stream_(stream), api_(std::make_unique<const CublasApi>()) {}

Cublas::~Cublas() {
  if (context_ != nullptr) api_->destroy(context_);
}

std::string Cublas::version() const {
  return cublas_version(*api_);
}

cublasContext* Cublas::context() {
  if (context_ != nullptr) return context_;
  const auto require = [](const Expected<void, Failure>& done) {
    if (done) return;
    throw Error(ErrorCode::failure, fmt::format("cuBLAS cannot start: {}", done.error().message));
  };
  const auto made = make_cublas_handle(*api_);
  require(made ? Expected<void, Failure>() : Unexpected(made.error()));
  context_ = *made;
  require(attempt(*api_, api_->set_stream(context_, stream_)));
  return context_;
}

Enqueue Cublas::prepare(const blas::Operation& operation, const blas::Addresses& operands) {
  if (blas::only_lt_has(operation)) return prepare_first(operation, operands);
  return [this, context = context(), operation, operands] {
    return run_cublas(*api_, context, operation, operands);
  };
}

Enqueue Cublas::prepare_first(const blas::Operation& operation, const blas::Addresses& operands) {
  const auto fail = [](const char* why) {
    return [why] { return Unexpected(Failure{Outcome::launch_error, why}); };
  };
  if (!LtProduct::has(operation.epilogue)) return fail("cublasLt has no bias of rows");
  const auto product = std::make_shared<const LtProduct>(lt(), operation, operands[blas::kBias]);
  const std::vector<LtAlgorithm> first = product->proposed(1, alignment_bytes(operands));
  if (first.empty()) return fail("cublasLt has no algorithm for it");
  return [this, product, operands, algorithm = first.front()] {
    return product->multiply(operands, algorithm, lt_workspace_.get(), stream_);
  };
}

const CublasLt& Cublas::lt() {
  if (lt_ == nullptr) {
    lt_workspace_ = make_device_memory(CublasLt::kWorkspaceBytes);
    lt_ = std::make_unique<const CublasLt>();
  }
  return *lt_;
}

Expected<Enqueue, Failure> Cublas::prepare(const blas::Operation& operation,
                                           const blas::Addresses& operands,
                                           const std::string& algorithm) {
  auto choice = lt_choice(lt(), operation, algorithm, operands[blas::kBias]);
  if (!choice) return Unexpected(std::move(choice.error()));
  return Enqueue([this, operands, its = *std::move(choice)] {
    return its.product->multiply(operands, its.algorithm, lt_workspace_.get(), stream_);
  });
}

std::vector<std::string> Cublas::algorithms(const blas::Operation& operation,
                                            const blas::Addresses& operands) {
  if (!has_lt_algorithms(operation)) return {};
  return lt_algorithms(lt(), operation, operands);
}

}  // namespace tuner::backend
