// SPDX-License-Identifier: Apache-2.0
#include "tuner/cublas/product.hpp"

#include "tuner/cublas/original.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

namespace tuner::cublas {
namespace {

bool is_operation(cublasOperation_t op) {
  return op == CUBLAS_OP_N || op == CUBLAS_OP_T || op == CUBLAS_OP_C;
}

template <class Number>
Number number(const void* address) {
  Number value{};
  std::memcpy(&value, address, sizeof value);
  return value;
}

}  // namespace

std::string_view name(PassReason reason) {
  constexpr std::array<std::string_view, kPassReasons> kNames = {
      "element type",    "compute type",      "algorithm",
      "operation",       "epilogue",          "layout",
      "scaling",         "D is not C",        "batch strides",
      "empty",           "invalid arguments", "null pointer",
      "device pointers", "math mode",         "SM count target",
      "environment",     "unknown device",    "capture of a new size",
      "not tuned",       "cuBLAS is as fast", "failure"};
  return kNames.at(static_cast<std::size_t>(reason));
}

cudaDataType cuda_type(ElementType type) {
  return static_cast<cudaDataType>(row(type).cuda.value);
}

std::optional<Epilogue> epilogue_of(cublasLtEpilogue_t epilogue, cudaDataType type) {
  if (epilogue == CUBLASLT_EPILOGUE_DEFAULT) return Epilogue{};
  if (type != CUDA_R_16BF && type != CUDA_R_16F) return std::nullopt;
  // A bias has a number for each row of cuBLAS's columns, which is a column by rows.
  switch (epilogue) {
    case CUBLASLT_EPILOGUE_RELU:
      return Epilogue{.activation = Activation::relu};
    case CUBLASLT_EPILOGUE_GELU:
      return Epilogue{.activation = Activation::gelu};
    case CUBLASLT_EPILOGUE_BIAS:
      return Epilogue{.bias = Bias::per_column};
    case CUBLASLT_EPILOGUE_RELU_BIAS:
      return Epilogue{.bias = Bias::per_column, .activation = Activation::relu};
    case CUBLASLT_EPILOGUE_GELU_BIAS:
      return Epilogue{.bias = Bias::per_column, .activation = Activation::gelu};
    default:
      return std::nullopt;
  }
}

const blas::GemmTypeRow* gemm_type(const ProductCall& call) {
  const auto found = std::ranges::find_if(blas::kGemmTypeRows, [&](const blas::GemmTypeRow& it) {
    // Types that cublasLt alone multiplies are passed on: cublasLt scales their operands.
    return !blas::only_lt_multiplies(it.matrices) && cuda_type(it.matrices) == call.a.type &&
           call.a.type == call.b.type && cuda_type(it.result) == call.c.type;
  });
  return found == blas::kGemmTypeRows.end() ? nullptr : &*found;
}

cublasComputeType_t compute_type(const blas::GemmTypeRow& type) {
  if (type.factors == ElementType::f64) return CUBLAS_COMPUTE_64F;
  return type.factors == ElementType::f32 ? CUBLAS_COMPUTE_32F : CUBLAS_COMPUTE_32I;
}

cudaDataType scale_type(const blas::GemmTypeRow& type) {
  return cuda_type(type.factors);
}

double factor(const blas::GemmTypeRow& type, const void* address) {
  if (type.factors == ElementType::f64) return number<double>(address);
  return type.factors == ElementType::f32 ? static_cast<double>(number<float>(address))
                                          : static_cast<double>(number<std::int32_t>(address));
}

namespace {

/// What stands against the types of a call, and against how it wants the product computed.
std::optional<PassReason> objection_to_types(const ProductCall& call) {
  const auto epilogue = epilogue_of(call.epilogue, call.a.type);
  if (!epilogue) return PassReason::epilogue;
  const blas::GemmTypeRow* const type = gemm_type(call);
  if (type == nullptr) return PassReason::type;
  if (epilogue->bias != Bias::none && call.bias == nullptr) return PassReason::null_pointer;
  if (call.compute != compute_type(*type)) return PassReason::compute;
  // The second one, CuPy's, allowed tensor cores before compute capability 8.0: since then the
  // compute type alone does.
  if (call.algorithm != CUBLAS_GEMM_DEFAULT && call.algorithm != CUBLAS_GEMM_DEFAULT_TENSOR_OP) {
    return PassReason::algorithm;
  }
  return std::nullopt;
}

bool has_null(const ProductCall& call) {
  return call.alpha == nullptr || call.a.data == nullptr || call.b.data == nullptr ||
         call.beta == nullptr || call.c.data == nullptr || call.handle == nullptr;
}

}  // namespace

blas::GemmShape by_rows(const ProductCall& call) {
  const auto matrix = [](const Operand& operand, std::int64_t rows, std::int64_t columns,
                         Transpose transpose) {
    if (transpose == Transpose::yes) std::swap(rows, columns);
    return blas::MatrixLayout{
        .rows = rows, .columns = columns, .ld = operand.ld, .stride = operand.stride};
  };
  const auto transpose = [](cublasOperation_t operation) {
    return operation == CUBLAS_OP_N ? Transpose::no : Transpose::yes;
  };
  const Transpose trans_a = transpose(call.op_b), trans_b = transpose(call.op_a);
  return {.m = call.n,
          .n = call.m,
          .k = call.k,
          .trans_a = trans_a,
          .trans_b = trans_b,
          .batch = call.batch,
          .a = matrix(call.b, call.n, call.k, trans_a),
          .b = matrix(call.a, call.k, call.m, trans_b),
          .c = matrix(call.c, call.n, call.m, Transpose::no)};
}

std::optional<PassReason> objection(const ProductCall& call) {
  if (call.objection) return call.objection;
  if (const auto reason = objection_to_types(call)) return reason;
  if (!is_operation(call.op_a) || !is_operation(call.op_b)) return PassReason::operation;
  if (call.m < 0 || call.n < 0 || call.k < 0 || call.batch < 0) return PassReason::invalid;
  if (call.m == 0 || call.n == 0 || call.k == 0 || call.batch == 0) return PassReason::empty;
  const blas::GemmShape shape = by_rows(call);
  const std::array matrices = {shape.a, shape.b, shape.c};
  const auto holds_row = [](const blas::MatrixLayout& it) { return it.ld >= it.columns; };
  if (!std::ranges::all_of(matrices, holds_row)) return PassReason::invalid;
  if (has_null(call)) return PassReason::null_pointer;
  if (call.batch > 1 && !std::ranges::all_of(matrices, blas::is_packed)) return PassReason::strides;
  return std::nullopt;
}

HandleState handle_state(cublasHandle_t handle) {
  HandleState state;
  cublasPointerMode_t pointers = CUBLAS_POINTER_MODE_DEVICE;
  cublasMath_t math = CUBLAS_PEDANTIC_MATH;
  if (original.get_stream(handle, &state.stream) != CUBLAS_STATUS_SUCCESS ||
      original.get_pointer_mode(handle, &pointers) != CUBLAS_STATUS_SUCCESS ||
      original.get_math_mode(handle, &math) != CUBLAS_STATUS_SUCCESS) {
    state.objection = PassReason::invalid;
    return state;
  }
  // A reduction in the type of the output, which the flag forbids, is one in float here.
  constexpr auto kHarmless =
      static_cast<unsigned>(CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION);
  int sm_count = 0;
  if (pointers != CUBLAS_POINTER_MODE_HOST) {
    state.objection = PassReason::pointer_mode;
  } else if ((static_cast<unsigned>(math) & ~kHarmless) != CUBLAS_DEFAULT_MATH) {
    state.objection = PassReason::math_mode;
  } else if (original.get_sm_count_target.get() != nullptr &&  // before 11.5 there is none
             (original.get_sm_count_target(handle, &sm_count) != CUBLAS_STATUS_SUCCESS ||
              sm_count != 0)) {
    state.objection = PassReason::sm_count;
  }
  return state;
}

}  // namespace tuner::cublas
