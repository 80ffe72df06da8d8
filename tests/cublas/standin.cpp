// SPDX-License-Identifier: Apache-2.0
// libcublas.so.13 of the tests.
#include "tests/cublas/standin_call.hpp"

#include <mutex>
#include <set>

extern "C" cublasStatus_t standin_status();

namespace {

int is_nested = 0;

struct Handle {
  cudaStream_t stream = nullptr;
  cublasPointerMode_t pointer_mode = CUBLAS_POINTER_MODE_HOST;
  cublasMath_t math_mode = CUBLAS_DEFAULT_MATH;
  int sm_count_target = 0;
};
std::mutex mutex;  // of handles: threads create, use and destroy their own at the same time
std::set<Handle*> handles;

Handle* find(cublasHandle_t handle) {
  const std::scoped_lock lock(mutex);
  const auto known = handles.find(reinterpret_cast<Handle*>(handle));
  return known == handles.end() ? nullptr : *known;
}

template <class Value>
cublasStatus_t set(cublasHandle_t handle, Value Handle::*member, Value value) {
  Handle* const known = find(handle);
  if (known == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  known->*member = value;
  return CUBLAS_STATUS_SUCCESS;
}

template <class Value>
cublasStatus_t get(cublasHandle_t handle, Value Handle::*member, Value* value) {
  Handle* const known = find(handle);
  if (known == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  *value = known->*member;
  return CUBLAS_STATUS_SUCCESS;
}

/// Computes what is certainly a product of floats; all else only returns.
cublasStatus_t product(cublasHandle_t handle, const standin::Product& product, const void* alpha,
                       const void* beta) {
  if (standin_status() != CUBLAS_STATUS_SUCCESS) return standin_status();
  const Handle* const known = find(handle);
  if (known == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (known->pointer_mode != CUBLAS_POINTER_MODE_HOST || alpha == nullptr || beta == nullptr ||
      product.a == nullptr || product.b == nullptr || product.c == nullptr) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  standin::Product whole = product;
  std::memcpy(&whole.alpha, alpha, sizeof whole.alpha);
  std::memcpy(&whole.beta, beta, sizeof whole.beta);
  standin::multiply(whole);
  return CUBLAS_STATUS_SUCCESS;
}

}  // namespace

extern "C" {

void standin_nest(int nested) {
  is_nested = nested;
}

cublasStatus_t cublasCreate_v2(cublasHandle_t* handle) {
  const std::scoped_lock lock(mutex);
  *handle = reinterpret_cast<cublasHandle_t>(*handles.insert(new Handle).first);
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasDestroy_v2(cublasHandle_t handle) {
  Handle* const known = find(handle);
  const std::scoped_lock lock(mutex);
  handles.erase(known);
  delete known;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSetStream_v2(cublasHandle_t handle, cudaStream_t stream) {
  return set(handle, &Handle::stream, stream);
}

cublasStatus_t cublasGetStream_v2(cublasHandle_t handle, cudaStream_t* stream) {
  return get(handle, &Handle::stream, stream);
}

cublasStatus_t cublasSetPointerMode_v2(cublasHandle_t handle, cublasPointerMode_t mode) {
  return set(handle, &Handle::pointer_mode, mode);
}

cublasStatus_t cublasGetPointerMode_v2(cublasHandle_t handle, cublasPointerMode_t* mode) {
  return get(handle, &Handle::pointer_mode, mode);
}

cublasStatus_t cublasSetMathMode(cublasHandle_t handle, cublasMath_t mode) {
  return set(handle, &Handle::math_mode, mode);
}

cublasStatus_t cublasGetMathMode(cublasHandle_t handle, cublasMath_t* mode) {
  return get(handle, &Handle::math_mode, mode);
}

cublasStatus_t cublasSetSmCountTarget(cublasHandle_t handle, int count) {
  return set(handle, &Handle::sm_count_target, count);
}

cublasStatus_t cublasGetSmCountTarget(cublasHandle_t handle, int* count) {
  return get(handle, &Handle::sm_count_target, count);
}

cublasStatus_t cublasSgemm_v2(cublasHandle_t handle, cublasOperation_t transa,
                              cublasOperation_t transb, int m, int n, int k, const float* alpha,
                              const float* a, int lda, const float* b, int ldb, const float* beta,
                              float* c, int ldc) {
  standin::keep("cublasSgemm_v2", handle, transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c,
                ldc);
  if (is_nested != 0) {
    return cublasLtMatmul(nullptr, nullptr, alpha, a, nullptr, b, nullptr, beta, c, nullptr, c,
                          nullptr, nullptr, nullptr, 0, nullptr);
  }
  return product(handle,
                 {.trans_a = transa != CUBLAS_OP_N,
                  .trans_b = transb != CUBLAS_OP_N,
                  .m = m,
                  .n = n,
                  .k = k,
                  .batch = 1,
                  .alpha = 0,
                  .a = a,
                  .lda = lda,
                  .stride_a = 0,
                  .b = b,
                  .ldb = ldb,
                  .stride_b = 0,
                  .beta = 0,
                  .c = c,
                  .ldc = ldc,
                  .stride_c = 0},
                 alpha, beta);
}

cublasStatus_t cublasSgemm_v2_64(cublasHandle_t handle, cublasOperation_t transa,
                                 cublasOperation_t transb, int64_t m, int64_t n, int64_t k,
                                 const float* alpha, const float* a, int64_t lda, const float* b,
                                 int64_t ldb, const float* beta, float* c, int64_t ldc) {
  standin::keep("cublasSgemm_v2_64", handle, transa, transb, m, n, k, alpha, a, lda, b, ldb, beta,
                c, ldc);
  return product(handle,
                 {.trans_a = transa != CUBLAS_OP_N,
                  .trans_b = transb != CUBLAS_OP_N,
                  .m = m,
                  .n = n,
                  .k = k,
                  .batch = 1,
                  .alpha = 0,
                  .a = a,
                  .lda = lda,
                  .stride_a = 0,
                  .b = b,
                  .ldb = ldb,
                  .stride_b = 0,
                  .beta = 0,
                  .c = c,
                  .ldc = ldc,
                  .stride_c = 0},
                 alpha, beta);
}

cublasStatus_t cublasSgemmStridedBatched(cublasHandle_t handle, cublasOperation_t transa,
                                         cublasOperation_t transb, int m, int n, int k,
                                         const float* alpha, const float* a, int lda,
                                         long long int stride_a, const float* b, int ldb,
                                         long long int stride_b, const float* beta, float* c,
                                         int ldc, long long int stride_c, int batch) {
  standin::keep("cublasSgemmStridedBatched", handle, transa, transb, m, n, k, alpha, a, lda,
                stride_a, b, ldb, stride_b, beta, c, ldc, stride_c, batch);
  return product(handle,
                 {.trans_a = transa != CUBLAS_OP_N,
                  .trans_b = transb != CUBLAS_OP_N,
                  .m = m,
                  .n = n,
                  .k = k,
                  .batch = batch,
                  .alpha = 0,
                  .a = a,
                  .lda = lda,
                  .stride_a = stride_a,
                  .b = b,
                  .ldb = ldb,
                  .stride_b = stride_b,
                  .beta = 0,
                  .c = c,
                  .ldc = ldc,
                  .stride_c = stride_c},
                 alpha, beta);
}

cublasStatus_t cublasSgemmStridedBatched_64(cublasHandle_t handle, cublasOperation_t transa,
                                            cublasOperation_t transb, int64_t m, int64_t n,
                                            int64_t k, const float* alpha, const float* a,
                                            int64_t lda, long long int stride_a, const float* b,
                                            int64_t ldb, long long int stride_b, const float* beta,
                                            float* c, int64_t ldc, long long int stride_c,
                                            int64_t batch) {
  standin::keep("cublasSgemmStridedBatched_64", handle, transa, transb, m, n, k, alpha, a, lda,
                stride_a, b, ldb, stride_b, beta, c, ldc, stride_c, batch);
  return product(handle,
                 {.trans_a = transa != CUBLAS_OP_N,
                  .trans_b = transb != CUBLAS_OP_N,
                  .m = m,
                  .n = n,
                  .k = k,
                  .batch = batch,
                  .alpha = 0,
                  .a = a,
                  .lda = lda,
                  .stride_a = stride_a,
                  .b = b,
                  .ldb = ldb,
                  .stride_b = stride_b,
                  .beta = 0,
                  .c = c,
                  .ldc = ldc,
                  .stride_c = stride_c},
                 alpha, beta);
}

cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t transa,
                            cublasOperation_t transb, int m, int n, int k, const void* alpha,
                            const void* a, cudaDataType a_type, int lda, const void* b,
                            cudaDataType b_type, int ldb, const void* beta, void* c,
                            cudaDataType c_type, int ldc, cublasComputeType_t compute,
                            cublasGemmAlgo_t algorithm) {
  standin::keep("cublasGemmEx", handle, transa, transb, m, n, k, alpha, a, a_type, lda, b, b_type,
                ldb, beta, c, c_type, ldc, compute, algorithm);
  if (a_type != CUDA_R_32F || b_type != CUDA_R_32F || c_type != CUDA_R_32F) return standin_status();
  return product(handle,
                 {.trans_a = transa != CUBLAS_OP_N,
                  .trans_b = transb != CUBLAS_OP_N,
                  .m = m,
                  .n = n,
                  .k = k,
                  .batch = 1,
                  .alpha = 0,
                  .a = static_cast<const float*>(a),
                  .lda = lda,
                  .stride_a = 0,
                  .b = static_cast<const float*>(b),
                  .ldb = ldb,
                  .stride_b = 0,
                  .beta = 0,
                  .c = static_cast<float*>(c),
                  .ldc = ldc,
                  .stride_c = 0},
                 alpha, beta);
}

cublasStatus_t cublasGemmEx_64(cublasHandle_t handle, cublasOperation_t transa,
                               cublasOperation_t transb, int64_t m, int64_t n, int64_t k,
                               const void* alpha, const void* a, cudaDataType a_type, int64_t lda,
                               const void* b, cudaDataType b_type, int64_t ldb, const void* beta,
                               void* c, cudaDataType c_type, int64_t ldc,
                               cublasComputeType_t compute, cublasGemmAlgo_t algorithm) {
  standin::keep("cublasGemmEx_64", handle, transa, transb, m, n, k, alpha, a, a_type, lda, b,
                b_type, ldb, beta, c, c_type, ldc, compute, algorithm);
  if (a_type != CUDA_R_32F || b_type != CUDA_R_32F || c_type != CUDA_R_32F) return standin_status();
  return product(handle,
                 {.trans_a = transa != CUBLAS_OP_N,
                  .trans_b = transb != CUBLAS_OP_N,
                  .m = m,
                  .n = n,
                  .k = k,
                  .batch = 1,
                  .alpha = 0,
                  .a = static_cast<const float*>(a),
                  .lda = lda,
                  .stride_a = 0,
                  .b = static_cast<const float*>(b),
                  .ldb = ldb,
                  .stride_b = 0,
                  .beta = 0,
                  .c = static_cast<float*>(c),
                  .ldc = ldc,
                  .stride_c = 0},
                 alpha, beta);
}

cublasStatus_t cublasGemmStridedBatchedEx(cublasHandle_t handle, cublasOperation_t transa,
                                          cublasOperation_t transb, int m, int n, int k,
                                          const void* alpha, const void* a, cudaDataType a_type,
                                          int lda, long long int stride_a, const void* b,
                                          cudaDataType b_type, int ldb, long long int stride_b,
                                          const void* beta, void* c, cudaDataType c_type, int ldc,
                                          long long int stride_c, int batch,
                                          cublasComputeType_t compute, cublasGemmAlgo_t algorithm) {
  standin::keep("cublasGemmStridedBatchedEx", handle, transa, transb, m, n, k, alpha, a, a_type,
                lda, stride_a, b, b_type, ldb, stride_b, beta, c, c_type, ldc, stride_c, batch,
                compute, algorithm);
  if (a_type != CUDA_R_32F || b_type != CUDA_R_32F || c_type != CUDA_R_32F) return standin_status();
  return product(handle,
                 {.trans_a = transa != CUBLAS_OP_N,
                  .trans_b = transb != CUBLAS_OP_N,
                  .m = m,
                  .n = n,
                  .k = k,
                  .batch = batch,
                  .alpha = 0,
                  .a = static_cast<const float*>(a),
                  .lda = lda,
                  .stride_a = stride_a,
                  .b = static_cast<const float*>(b),
                  .ldb = ldb,
                  .stride_b = stride_b,
                  .beta = 0,
                  .c = static_cast<float*>(c),
                  .ldc = ldc,
                  .stride_c = stride_c},
                 alpha, beta);
}

cublasStatus_t cublasGemmStridedBatchedEx_64(
    cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int64_t m, int64_t n,
    int64_t k, const void* alpha, const void* a, cudaDataType a_type, int64_t lda,
    long long int stride_a, const void* b, cudaDataType b_type, int64_t ldb, long long int stride_b,
    const void* beta, void* c, cudaDataType c_type, int64_t ldc, long long int stride_c,
    int64_t batch, cublasComputeType_t compute, cublasGemmAlgo_t algorithm) {
  standin::keep("cublasGemmStridedBatchedEx_64", handle, transa, transb, m, n, k, alpha, a, a_type,
                lda, stride_a, b, b_type, ldb, stride_b, beta, c, c_type, ldc, stride_c, batch,
                compute, algorithm);
  if (a_type != CUDA_R_32F || b_type != CUDA_R_32F || c_type != CUDA_R_32F) return standin_status();
  return product(handle,
                 {.trans_a = transa != CUBLAS_OP_N,
                  .trans_b = transb != CUBLAS_OP_N,
                  .m = m,
                  .n = n,
                  .k = k,
                  .batch = batch,
                  .alpha = 0,
                  .a = static_cast<const float*>(a),
                  .lda = lda,
                  .stride_a = stride_a,
                  .b = static_cast<const float*>(b),
                  .ldb = ldb,
                  .stride_b = stride_b,
                  .beta = 0,
                  .c = static_cast<float*>(c),
                  .ldc = ldc,
                  .stride_c = stride_c},
                 alpha, beta);
}
}
