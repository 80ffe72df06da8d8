// SPDX-License-Identifier: Apache-2.0
// A product as a program asks cuBLAS for it, and whether a kernel of ours can certainly stand for
// it.
#pragma once

#include "tuner/backend/executor.hpp"
#include "tuner/blas/gemm_types.hpp"

#include <cublasLt.h>
#include <cublas_v2.h>

#include <cstdint>
#include <optional>
#include <string_view>

namespace tuner::cublas {

/// Why a call goes to cuBLAS.
enum class PassReason {
  type,          ///< types of matrices that no GemmType has
  compute,       ///< computes otherwise than the GemmType of the matrices
  algorithm,     ///< the program names one
  operation,     ///< an operation that does not exist
  epilogue,      ///< more is computed than the product, a bias and an activation
  layout,        ///< not column by column, or batches of pointers
  scaling,       ///< factors of the operands, absolute maxima, vectors alpha or beta
  output,        ///< D is not C, and C is read
  strides,       ///< the matrices of a batch are not contiguous
  empty,         ///< a dimension is 0
  invalid,       ///< cuBLAS will say what is wrong
  null_pointer,  ///< likewise
  pointer_mode,  ///< alpha and beta are in device memory
  math_mode,     ///< TF32, pedantic or emulated
  sm_count,      ///< cuBLAS is limited to a part of the device
  environment,   ///< NVIDIA_TF32_OVERRIDE, CUBLAS_EMULATE_{SINGLE,DOUBLE}_PRECISION
  device,        ///< not known which one the handle is of
  capture,       ///< the stream is being captured and the size was not prepared
  untuned,       ///< no result answers
  library,       ///< cuBLAS is expected to be as fast
  failed,        ///< of ours; the log says what
};
inline constexpr std::size_t kPassReasons = static_cast<std::size_t>(PassReason::failed) + 1;
/// For people: "element type".
[[nodiscard]] std::string_view name(PassReason reason);

/// A matrix, or the first one of a batch. What is measured in elements.
struct Operand {
  const void* data = nullptr;
  cudaDataType type = CUDA_R_32F;
  std::int64_t ld = 0;
  std::int64_t stride = 0;  ///< from one of a batch to the next
};

/// C = alpha·op(A)·op(B) + beta·C, column by column, with the names of cuBLAS.
struct ProductCall {
  std::string_view function;  ///< as the program knows it
  void* handle = nullptr;     ///< a cublasHandle_t or cublasLtHandle_t
  cublasOperation_t op_a = CUBLAS_OP_N;
  cublasOperation_t op_b = CUBLAS_OP_N;
  std::int64_t m = 0, n = 0, k = 0, batch = 1;
  const void* alpha = nullptr;
  Operand a = {}, b = {};
  const void* beta = nullptr;
  Operand c = {};
  cublasComputeType_t compute = CUBLAS_COMPUTE_32F;
  cublasGemmAlgo_t algorithm = CUBLAS_GEMM_DEFAULT;
  // Of cublasLtMatmul, which has no state in its handle:
  cublasLtEpilogue_t epilogue = CUBLASLT_EPILOGUE_DEFAULT;
  const void* bias = nullptr;
  std::optional<backend::StreamHandle> stream = {};
  std::optional<PassReason> objection = {};  ///< known from its descriptors
};

/// What cuBLAS's epilogue is to a kernel, by rows, for matrices of a type; none where no kernel has
/// it: those on tensor cores have some.
[[nodiscard]] std::optional<Epilogue> epilogue_of(cublasLtEpilogue_t epilogue, cudaDataType type);
/// As cuBLAS names a type.
[[nodiscard]] cudaDataType cuda_type(ElementType type);

/// The GemmType with such types of matrices; null where there is none.
[[nodiscard]] const blas::GemmTypeRow* gemm_type(const ProductCall& call);
/// How cuBLAS is asked to compute so, and the type of its alpha and beta.
[[nodiscard]] cublasComputeType_t compute_type(const blas::GemmTypeRow& type);
[[nodiscard]] cudaDataType scale_type(const blas::GemmTypeRow& type);
/// A factor in the type of a product's sums, of the host.
[[nodiscard]] double factor(const blas::GemmTypeRow& type, const void* address);

/// The call by rows: a matrix by columns is its transpose by rows, and Cᵀ = op(B)ᵀ·op(A)ᵀ. So A and
/// B change places, and what is transposed stays so.
[[nodiscard]] blas::GemmShape by_rows(const ProductCall& call);

/// Why a call must go to cuBLAS, by its arguments alone; none where nothing stands against it.
[[nodiscard]] std::optional<PassReason> objection(const ProductCall& call);

/// What a handle says of the calls made with it.
struct HandleState {
  backend::StreamHandle stream = nullptr;
  std::optional<PassReason> objection = {};
};

/// Asks cuBLAS itself.
[[nodiscard]] HandleState handle_state(cublasHandle_t handle);

/// The arguments of cublasLtMatmul.
struct LtCall {
  cublasLtHandle_t handle;
  cublasLtMatmulDesc_t desc;
  const void* alpha;
  const void* a;
  cublasLtMatrixLayout_t a_layout;
  const void* b;
  cublasLtMatrixLayout_t b_layout;
  const void* beta;
  const void* c;
  cublasLtMatrixLayout_t c_layout;
  void* d;
  cublasLtMatrixLayout_t d_layout;
  cudaStream_t stream;
};

/// How much of a call is wanted: asking cuBLAS for all that descriptors hold takes 0.5 us.
enum class Detail {
  decision,  ///< nothing further once there is an objection
  all,
};

/// The product that cublasLtMatmul is asked for, with an objection where it is more than that.
[[nodiscard]] ProductCall lt_product(const LtCall& lt, Detail detail);

}  // namespace tuner::cublas
