// SPDX-License-Identifier: Apache-2.0
// Matrix products through a Dispatcher, row-major; inline above the C interface, as dispatcher.hpp.
#pragma once

#include "tuner/blas/product.hpp"
#include "tuner/dispatch/dispatcher.hpp"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace tuner {

/// A product C = alpha·op(A)·op(B) + beta·C for each matrix of a batch, row-major: op(A) is m×k,
/// op(B) k×n, C m×n.
struct GemmProblem {
  GemmType type = GemmType::f32;      ///< of the matrices, sums and factors
  Transpose trans_a = Transpose::no;  ///< whether A is stored transposed (k×m)
  Transpose trans_b = Transpose::no;  ///< whether B is stored transposed (n×k)
  std::int64_t m = 0;                 ///< rows of op(A) and C, 0 or more
  std::int64_t n = 0;                 ///< columns of op(B) and C, 0 or more
  std::int64_t k = 0;                 ///< columns of op(A), rows of op(B), 0 or more
  std::int64_t lda = 0;    ///< elements from one stored row of A to the next; 0: its length
  std::int64_t ldb = 0;    ///< elements from one stored row of B to the next; 0: its length
  std::int64_t ldc = 0;    ///< elements from one row of C to the next; 0: its length
  std::int64_t batch = 1;  ///< number of products, 0 or more
  /// Elements from one A to the next, not read if batch is 1; nothing: stored rows · leading
  /// dimension.
  std::optional<std::int64_t> stride_a = {};
  std::optional<std::int64_t> stride_b = {};  ///< as stride_a, of B
  std::optional<std::int64_t> stride_c = {};  ///< as stride_a, of C
  Epilogue epilogue = {};                     ///< what follows the product
  const void* bias = nullptr;      ///< n or m elements of the type of C, as the epilogue says
  const void* residual = nullptr;  ///< of the type of C and lies as C does, where it is added
};

namespace dispatch {

/// A number as a value of an enumeration of the C interface, which checks it.
template <class Enumeration>
[[nodiscard]] Enumeration of_c(auto value) {
  return std::bit_cast<Enumeration>(static_cast<std::uint32_t>(value));
}

/// As the C interface takes it.
[[nodiscard]] inline tuner_gemm_problem c_problem(const GemmProblem& problem) {
  return {.struct_size = sizeof(tuner_gemm_problem),
          .type = of_c<tuner_gemm_type>(problem.type),
          .trans_a = of_c<tuner_transpose>(problem.trans_a),
          .trans_b = of_c<tuner_transpose>(problem.trans_b),
          .m = problem.m,
          .n = problem.n,
          .k = problem.k,
          .lda = problem.lda,
          .ldb = problem.ldb,
          .ldc = problem.ldc,
          .batch = problem.batch,
          .stride_a = problem.stride_a.value_or(TUNER_STRIDE_PACKED),
          .stride_b = problem.stride_b.value_or(TUNER_STRIDE_PACKED),
          .stride_c = problem.stride_c.value_or(TUNER_STRIDE_PACKED),
          .bias_kind = of_c<tuner_bias>(problem.epilogue.bias),
          .activation = of_c<tuner_activation>(problem.epilogue.activation),
          .bias = problem.bias,
          .residual = problem.epilogue.residual ? problem.residual : nullptr};
}

}  // namespace dispatch

/// Multiplies matrices in device memory. Served by the family "gemm_tensor" of the dispatcher's
/// table where it has the type, else by "gemm", else by the library: never by a kernel of another
/// type. What follows a product is done by kernels; where the table has the family, on a GPU also
/// by the library, but for a bias of rows and a residual. Otherwise as sgemm(). Throws as
/// Dispatcher::launch; DispatchError if a factor is not a number of its type, or if neither a
/// kernel nor the library supports the problem.
///
/// @param dispatcher The device and what was tuned for it.
/// @param stream Where the work is enqueued.
/// @param problem Types, layout and extents.
/// @param alpha Factor of the product, rounded to the type of the sums; of s8 a whole number.
/// @param a The first matrix A.
/// @param b The first matrix B.
/// @param beta Factor of C, as alpha.
/// @param c The first matrix C, read and written.
inline void gemm(Dispatcher& dispatcher, StreamHandle stream, const GemmProblem& problem,
                 double alpha, const void* a, const void* b, double beta, void* c) {
  if (problem.epilogue.residual && problem.residual == nullptr) {
    throw DispatchError("gemm: the residual is a null pointer");
  }
  const tuner_gemm_problem of_c = dispatch::c_problem(problem);
  dispatch::require(tuner_gemm(dispatcher.handle(), stream, &of_c, alpha, a, b, beta, c));
}

/// A family, and a size of it.
struct GemmEntry {
  FamilyId family;  ///< for Dispatcher::prepare and Dispatcher::answer
  Size size;        ///< up to the last dimension that gemm() gives
};

/// Where gemm() looks a problem up, if its matrices begin at multiples of 16 bytes: for
/// Dispatcher::prepare and Dispatcher::answer. Nothing where the library serves it whatever was
/// tuned, or where there is nothing to do. Throws DispatchError where gemm() does whatever the
/// matrices hold.
///
/// @param dispatcher The device and what was tuned for it.
/// @param problem As of gemm(); nothing that it points to is read.
[[nodiscard]] inline std::optional<GemmEntry> find_gemm(const Dispatcher& dispatcher,
                                                        const GemmProblem& problem) {
  tuner_gemm_problem of_c = dispatch::c_problem(problem);
  if (problem.epilogue.residual) of_c.residual = &problem;  // it is not read
  std::uint32_t family = 0;
  const std::int64_t* first = nullptr;
  std::size_t count = 0;
  dispatch::require(tuner_find_gemm(dispatcher.handle(), &of_c, &family, &first, &count));
  if (count == 0) return std::nullopt;
  return GemmEntry{.family = FamilyId{family}, .size = {first, first + count}};
}

/// C = alpha·op(A)·op(B) + beta·C for row-major matrices in device memory: op(A) is m×k, op(B) k×n,
/// C m×n. Served by the family "gemm" of the dispatcher's table, or by the library where the table
/// has none or no kernel can. Where m or n is 0 there is nothing to do. The library serves k = 0
/// and pointers aligned to less than 4 bytes. With beta = 0, C is not read; with alpha = 0, A and B
/// are not read. A matrix without elements may have the leading dimension 0. Throws as
/// Dispatcher::launch.
///
/// @param dispatcher The device and what was tuned for it.
/// @param stream Where the work is enqueued.
/// @param trans_a Whether A is stored transposed (k×m).
/// @param trans_b Whether B is stored transposed (n×k).
/// @param m Rows of op(A) and C, 0 or more.
/// @param n Columns of op(B) and C, 0 or more.
/// @param k Columns of op(A), rows of op(B), 0 or more.
/// @param alpha Factor of the product.
/// @param a Matrix A.
/// @param lda Floats from one stored row of A to the next, at least the row's length.
/// @param b Matrix B.
/// @param ldb Floats from one stored row of B to the next.
/// @param beta Factor of C.
/// @param c Matrix C, read and written.
/// @param ldc Floats from one row of C to the next.
inline void sgemm(Dispatcher& dispatcher, StreamHandle stream, Transpose trans_a, Transpose trans_b,
                  std::int64_t m, std::int64_t n, std::int64_t k, float alpha, const float* a,
                  std::int64_t lda, const float* b, std::int64_t ldb, float beta, float* c,
                  std::int64_t ldc) {
  dispatch::require(tuner_sgemm(
      dispatcher.handle(), stream, dispatch::of_c<tuner_transpose>(trans_a),
      dispatch::of_c<tuner_transpose>(trans_b), m, n, k, alpha, a, lda, b, ldb, beta, c, ldc));
}

/// As sgemm(), for `batch` products. Kernels serve batches whose matrices are contiguous (stride =
/// stored rows · leading dimension); the library serves any other.
///
/// @param dispatcher As of sgemm(), like every parameter that is not described otherwise.
/// @param stream As of sgemm().
/// @param trans_a As of sgemm(), for every matrix.
/// @param trans_b As of sgemm().
/// @param m As of sgemm().
/// @param n As of sgemm().
/// @param k As of sgemm().
/// @param alpha As of sgemm().
/// @param a The first matrix A.
/// @param lda As of sgemm().
/// @param stride_a Floats from one A to the next; 0: one A for all.
/// @param b The first matrix B.
/// @param ldb As of sgemm().
/// @param stride_b Floats from one B to the next; 0: one B for all.
/// @param beta As of sgemm().
/// @param c The first matrix C.
/// @param ldc As of sgemm().
/// @param stride_c Floats from one C to the next.
/// @param batch Number of products, 0 or more.
inline void sgemm_strided_batched(Dispatcher& dispatcher, StreamHandle stream, Transpose trans_a,
                                  Transpose trans_b, std::int64_t m, std::int64_t n, std::int64_t k,
                                  float alpha, const float* a, std::int64_t lda,
                                  std::int64_t stride_a, const float* b, std::int64_t ldb,
                                  std::int64_t stride_b, float beta, float* c, std::int64_t ldc,
                                  std::int64_t stride_c, std::int64_t batch) {
  dispatch::require(tuner_sgemm_strided_batched(
      dispatcher.handle(), stream, dispatch::of_c<tuner_transpose>(trans_a),
      dispatch::of_c<tuner_transpose>(trans_b), m, n, k, alpha, a, lda, stride_a, b, ldb, stride_b,
      beta, c, ldc, stride_c, batch));
}

}  // namespace tuner
