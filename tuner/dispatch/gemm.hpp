// SPDX-License-Identifier: Apache-2.0
// Matrix products in single precision through a Dispatcher: row-major, arguments in BLAS's order.
#pragma once

#include "tuner/dispatch/dispatcher.hpp"
#include "tuner/family/transpose.hpp"

#include <cstdint>

namespace tuner {

/// C = alpha·op(A)·op(B) + beta·C for row-major matrices in device memory: op(A) is m×k, op(B) k×n,
/// C m×n; `lda`, `ldb`, `ldc` are floats from one stored row to the next. Served by the family
/// "gemm" of the dispatcher's table, or by the library where the table has none or no kernel can.
/// Where m, n or batch is 0 there is nothing to do; k = 0 and pointers aligned to less than 4 bytes
/// are the library's. Throws as Dispatcher::launch.
TUNER_API void sgemm(Dispatcher& dispatcher, StreamHandle stream, Transpose trans_a,
                     Transpose trans_b, std::int64_t m, std::int64_t n, std::int64_t k, float alpha,
                     const float* a, std::int64_t lda, const float* b, std::int64_t ldb, float beta,
                     float* c, std::int64_t ldc);

/// The same for `batch` products, whose matrices lie `stride_…` floats apart. Kernels serve batches
/// whose matrices lie one behind the other (stride = stored rows · leading dimension); any other
/// goes to the library.
TUNER_API void sgemm_strided_batched(Dispatcher& dispatcher, StreamHandle stream, Transpose trans_a,
                                     Transpose trans_b, std::int64_t m, std::int64_t n,
                                     std::int64_t k, float alpha, const float* a, std::int64_t lda,
                                     std::int64_t stride_a, const float* b, std::int64_t ldb,
                                     std::int64_t stride_b, float beta, float* c, std::int64_t ldc,
                                     std::int64_t stride_c, std::int64_t batch);

}  // namespace tuner
