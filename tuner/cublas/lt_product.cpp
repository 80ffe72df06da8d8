// SPDX-License-Identifier: Apache-2.0
#include "tuner/cublas/original.hpp"
#include "tuner/cublas/product.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

namespace tuner::cublas {
namespace {

// Attributes that cublasLt has had only since CUDA 12.8 or later, by their numbers: the program's
// cublasLt may be newer than the headers of this build, and one that is older knows no such
// attribute and gives the default.
constexpr int kLayoutBatchMode = 8;
constexpr std::int32_t kStridedBatch = 0;
constexpr int kProductOutScalePointer = 36;
constexpr int kProductEmulation = 38;

/// An attribute of a descriptor; `otherwise`, the attribute's default, where this version of cuBLAS
/// does not have it.
template <class Value>
Value attribute(cublasLtMatmulDesc_t desc, int which, Value otherwise) {
  Value value{};
  std::size_t written = 0;
  const auto status = original.get_desc(desc, static_cast<cublasLtMatmulDescAttributes_t>(which),
                                        &value, sizeof value, &written);
  return status == CUBLAS_STATUS_SUCCESS && written == sizeof value ? value : otherwise;
}

template <class Value>
Value attribute(cublasLtMatrixLayout_t layout, int which, Value otherwise) {
  Value value{};
  std::size_t written = 0;
  const auto status = original.get_layout(
      layout, static_cast<cublasLtMatrixLayoutAttribute_t>(which), &value, sizeof value, &written);
  return status == CUBLAS_STATUS_SUCCESS && written == sizeof value ? value : otherwise;
}

/// Of a matrix as it is stored.
struct Layout {
  Operand operand;
  std::uint64_t rows = 0, columns = 0;
  std::int32_t batch = 0;
  bool is_plain = false;  ///< column by column, at strides
};

Layout read_layout(const void* data, cublasLtMatrixLayout_t layout) {
  Layout result;
  // Where an attribute cannot be read, one that no call is taken with.
  result.operand = {
      .data = data,
      .type = static_cast<cudaDataType>(
          attribute<std::uint32_t>(layout, CUBLASLT_MATRIX_LAYOUT_TYPE, UINT32_MAX)),
      .ld = attribute<std::int64_t>(layout, CUBLASLT_MATRIX_LAYOUT_LD, 0),
      .stride = attribute<std::int64_t>(layout, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, 0)};
  result.rows = attribute<std::uint64_t>(layout, CUBLASLT_MATRIX_LAYOUT_ROWS, 0);
  result.columns = attribute<std::uint64_t>(layout, CUBLASLT_MATRIX_LAYOUT_COLS, 0);
  result.batch = attribute<std::int32_t>(layout, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, 0);
  result.is_plain =
      attribute<std::int32_t>(layout, CUBLASLT_MATRIX_LAYOUT_ORDER, -1) == CUBLASLT_ORDER_COL &&
      attribute<std::int64_t>(layout, CUBLASLT_MATRIX_LAYOUT_PLANE_OFFSET, 0) == 0 &&
      attribute<std::int32_t>(layout, kLayoutBatchMode, kStridedBatch) == kStridedBatch;
  return result;
}

bool has_scaling(cublasLtMatmulDesc_t desc) {
  constexpr std::array<int, 6> kPointers = {
      CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, CUBLASLT_MATMUL_DESC_B_SCALE_POINTER,
      CUBLASLT_MATMUL_DESC_C_SCALE_POINTER, CUBLASLT_MATMUL_DESC_D_SCALE_POINTER,
      CUBLASLT_MATMUL_DESC_AMAX_D_POINTER,  kProductOutScalePointer};
  return std::ranges::any_of(kPointers, [&](int which) {
    return attribute<const void*>(desc, which, nullptr) != nullptr;
  });
}

/// What stands against the bias of an epilogue, whose type is that of D where none is named.
std::optional<PassReason> objection_to_bias(cublasLtMatmulDesc_t desc,
                                            const blas::GemmTypeRow& type) {
  const auto named = attribute<std::int32_t>(desc, CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, -1);
  const auto stride = attribute<std::int64_t>(desc, CUBLASLT_MATMUL_DESC_BIAS_BATCH_STRIDE, 0);
  if ((named == -1 || named == cuda_type(type.result)) && stride == 0) return std::nullopt;
  return PassReason::epilogue;
}

/// What stands against the descriptor of an operation in such types.
std::optional<PassReason> objection_to(cublasLtMatmulDesc_t desc, const blas::GemmTypeRow& type) {
  const auto number = [&](cublasLtMatmulDescAttributes_t which, std::int32_t otherwise) {
    return attribute<std::int32_t>(desc, which, otherwise);
  };
  if (number(CUBLASLT_MATMUL_DESC_SCALE_TYPE, -1) != scale_type(type)) return PassReason::compute;
  if (number(CUBLASLT_MATMUL_DESC_POINTER_MODE, CUBLASLT_POINTER_MODE_DEVICE) !=
      CUBLASLT_POINTER_MODE_HOST) {
    return PassReason::pointer_mode;
  }
  if (number(CUBLASLT_MATMUL_DESC_TRANSC, CUBLAS_OP_N) != CUBLAS_OP_N) {
    return PassReason::operation;
  }
  if (number(CUBLASLT_MATMUL_DESC_FILL_MODE, CUBLAS_FILL_MODE_FULL) != CUBLAS_FILL_MODE_FULL) {
    return PassReason::output;
  }
  if (number(CUBLASLT_MATMUL_DESC_SM_COUNT_TARGET, 0) != 0) return PassReason::sm_count;
  if (attribute<const void*>(desc, kProductEmulation, nullptr) != nullptr) {
    return PassReason::math_mode;
  }
  if (has_scaling(desc)) return PassReason::scaling;
  return std::nullopt;
}

bool same(const Layout& one, const Layout& other) {
  return one.operand.data == other.operand.data && one.operand.type == other.operand.type &&
         one.operand.ld == other.operand.ld && one.operand.stride == other.operand.stride &&
         one.rows == other.rows && one.columns == other.columns && one.batch == other.batch &&
         one.is_plain && other.is_plain;
}

/// What stands against the matrices; `inner` is op(B)'s number of rows.
std::optional<PassReason> objection_to(const Layout& a, const Layout& b, const Layout& c,
                                       const Layout& d, const ProductCall& call,
                                       const blas::GemmTypeRow& type, std::uint64_t inner,
                                       std::uint64_t columns) {
  if (!a.is_plain || !b.is_plain || !d.is_plain) return PassReason::layout;
  if (a.batch != d.batch || b.batch != d.batch) return PassReason::invalid;
  if (static_cast<std::int64_t>(inner) != call.k || static_cast<std::int64_t>(columns) != call.n ||
      static_cast<std::int64_t>(d.rows) != call.m) {
    return PassReason::invalid;
  }
  if (call.alpha == nullptr || call.beta == nullptr) return PassReason::null_pointer;
  if (factor(type, call.beta) != 0 && !same(c, d)) return PassReason::output;
  return std::nullopt;
}

}  // namespace

ProductCall lt_product(const LtCall& lt, Detail detail) {
  ProductCall call;
  call.function = "cublasLtMatmul";
  call.handle = lt.handle;
  call.stream = lt.stream;
  if (lt.desc == nullptr || lt.a_layout == nullptr || lt.b_layout == nullptr ||
      lt.c_layout == nullptr || lt.d_layout == nullptr) {
    call.objection = PassReason::null_pointer;
    return call;
  }
  const auto number = [&](cublasLtMatmulDescAttributes_t which) {
    return attribute<std::int32_t>(lt.desc, which, -1);
  };
  call.op_a = static_cast<cublasOperation_t>(number(CUBLASLT_MATMUL_DESC_TRANSA));
  call.op_b = static_cast<cublasOperation_t>(number(CUBLASLT_MATMUL_DESC_TRANSB));
  call.compute = static_cast<cublasComputeType_t>(number(CUBLASLT_MATMUL_DESC_COMPUTE_TYPE));
  call.epilogue = static_cast<cublasLtEpilogue_t>(number(CUBLASLT_MATMUL_DESC_EPILOGUE));
  const auto a_type = static_cast<cudaDataType>(
      attribute<std::uint32_t>(lt.a_layout, CUBLASLT_MATRIX_LAYOUT_TYPE, UINT32_MAX));
  const auto epilogue = epilogue_of(call.epilogue, a_type);
  if (!epilogue) call.objection = PassReason::epilogue;
  const bool computes_plainly = std::ranges::any_of(
      blas::kGemmTypeRows,
      [&](const blas::GemmTypeRow& it) { return compute_type(it) == call.compute; });
  if (!computes_plainly) call.objection = PassReason::compute;
  if (call.objection && detail == Detail::decision) return call;
  const Layout a = read_layout(lt.a, lt.a_layout);
  const Layout b = read_layout(lt.b, lt.b_layout);
  const Layout c = read_layout(lt.c, lt.c_layout);
  const Layout d = read_layout(lt.d, lt.d_layout);
  const bool plain_a = call.op_a == CUBLAS_OP_N;
  const bool plain_b = call.op_b == CUBLAS_OP_N;
  call.m = static_cast<std::int64_t>(plain_a ? a.rows : a.columns);
  call.k = static_cast<std::int64_t>(plain_a ? a.columns : a.rows);
  call.n = static_cast<std::int64_t>(d.columns);
  call.batch = d.batch;
  call.alpha = lt.alpha;
  call.beta = lt.beta;
  call.a = a.operand;
  call.b = b.operand;
  call.c = d.operand;
  const blas::GemmTypeRow* const type = gemm_type(call);
  if (call.objection || type == nullptr || call.compute != compute_type(*type)) return call;
  call.objection = objection_to(lt.desc, *type);
  if (!call.objection && epilogue && epilogue->bias != Bias::none) {
    call.bias = attribute<const void*>(lt.desc, CUBLASLT_MATMUL_DESC_BIAS_POINTER, nullptr);
    call.objection = objection_to_bias(lt.desc, *type);
  }
  if (!call.objection) {
    call.objection = objection_to(a, b, c, d, call, *type, plain_b ? b.rows : b.columns,
                                  plain_b ? b.columns : b.rows);
  }
  return call;
}

}  // namespace tuner::cublas
