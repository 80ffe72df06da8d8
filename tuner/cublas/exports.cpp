// SPDX-License-Identifier: Apache-2.0
// The functions of cuBLAS as programs call them.
#include "tuner/cublas/lookup.hpp"
#include "tuner/cublas/shim.hpp"

#include <array>
#include <string_view>

using tuner::cublas::Detail;
using tuner::cublas::original;

namespace tuner::cublas {
namespace {

// Each product has two forms, whose numbers are of 32 and of 64 bits: Int.

template <class Int, class Original>
cublasStatus_t sgemm(const char* name, const Original& pass_on, cublasHandle_t handle,
                     cublasOperation_t transa, cublasOperation_t transb, Int m, Int n, Int k,
                     const float* alpha, const float* a, Int lda, const float* b, Int ldb,
                     const float* beta, float* c, Int ldc) {
  const auto describe = [&](Detail) {
    return ProductCall{.function = name,
                       .handle = handle,
                       .op_a = transa,
                       .op_b = transb,
                       .m = m,
                       .n = n,
                       .k = k,
                       .alpha = alpha,
                       .a = {.data = a, .ld = lda},
                       .b = {.data = b, .ld = ldb},
                       .beta = beta,
                       .c = {.data = c, .ld = ldc}};
  };
  return call(pass_on, describe, handle, transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c,
              ldc);
}

template <class Int, class Original>
cublasStatus_t sgemm_batched(const char* name, const Original& pass_on, cublasHandle_t handle,
                             cublasOperation_t transa, cublasOperation_t transb, Int m, Int n,
                             Int k, const float* alpha, const float* a, Int lda,
                             long long int stridea, const float* b, Int ldb, long long int strideb,
                             const float* beta, float* c, Int ldc, long long int stridec,
                             Int batch) {
  const auto describe = [&](Detail) {
    return ProductCall{.function = name,
                       .handle = handle,
                       .op_a = transa,
                       .op_b = transb,
                       .m = m,
                       .n = n,
                       .k = k,
                       .batch = batch,
                       .alpha = alpha,
                       .a = {.data = a, .ld = lda, .stride = stridea},
                       .b = {.data = b, .ld = ldb, .stride = strideb},
                       .beta = beta,
                       .c = {.data = c, .ld = ldc, .stride = stridec}};
  };
  return call(pass_on, describe, handle, transa, transb, m, n, k, alpha, a, lda, stridea, b, ldb,
              strideb, beta, c, ldc, stridec, batch);
}

template <class Int, class Original>
cublasStatus_t gemm_ex(const char* name, const Original& pass_on, cublasHandle_t handle,
                       cublasOperation_t transa, cublasOperation_t transb, Int m, Int n, Int k,
                       const void* alpha, const void* a, cudaDataType atype, Int lda, const void* b,
                       cudaDataType btype, Int ldb, const void* beta, void* c, cudaDataType ctype,
                       Int ldc, cublasComputeType_t compute, cublasGemmAlgo_t algorithm) {
  const auto describe = [&](Detail) {
    return ProductCall{.function = name,
                       .handle = handle,
                       .op_a = transa,
                       .op_b = transb,
                       .m = m,
                       .n = n,
                       .k = k,
                       .alpha = alpha,
                       .a = {.data = a, .type = atype, .ld = lda},
                       .b = {.data = b, .type = btype, .ld = ldb},
                       .beta = beta,
                       .c = {.data = c, .type = ctype, .ld = ldc},
                       .compute = compute,
                       .algorithm = algorithm};
  };
  return call(pass_on, describe, handle, transa, transb, m, n, k, alpha, a, atype, lda, b, btype,
              ldb, beta, c, ctype, ldc, compute, algorithm);
}

template <class Int, class Original>
cublasStatus_t gemm_batched_ex(const char* name, const Original& pass_on, cublasHandle_t handle,
                               cublasOperation_t transa, cublasOperation_t transb, Int m, Int n,
                               Int k, const void* alpha, const void* a, cudaDataType atype, Int lda,
                               long long int stridea, const void* b, cudaDataType btype, Int ldb,
                               long long int strideb, const void* beta, void* c, cudaDataType ctype,
                               Int ldc, long long int stridec, Int batch,
                               cublasComputeType_t compute, cublasGemmAlgo_t algorithm) {
  const auto describe = [&](Detail) {
    return ProductCall{.function = name,
                       .handle = handle,
                       .op_a = transa,
                       .op_b = transb,
                       .m = m,
                       .n = n,
                       .k = k,
                       .batch = batch,
                       .alpha = alpha,
                       .a = {.data = a, .type = atype, .ld = lda, .stride = stridea},
                       .b = {.data = b, .type = btype, .ld = ldb, .stride = strideb},
                       .beta = beta,
                       .c = {.data = c, .type = ctype, .ld = ldc, .stride = stridec},
                       .compute = compute,
                       .algorithm = algorithm};
  };
  return call(pass_on, describe, handle, transa, transb, m, n, k, alpha, a, atype, lda, stridea, b,
              btype, ldb, strideb, beta, c, ctype, ldc, stridec, batch, compute, algorithm);
}

}  // namespace
}  // namespace tuner::cublas

extern "C" {

cublasStatus_t cublasSgemm_v2(cublasHandle_t handle, cublasOperation_t transa,
                              cublasOperation_t transb, int m, int n, int k, const float* alpha,
                              const float* a, int lda, const float* b, int ldb, const float* beta,
                              float* c, int ldc) {
  return tuner::cublas::sgemm("cublasSgemm_v2", original.sgemm, handle, transa, transb, m, n, k,
                              alpha, a, lda, b, ldb, beta, c, ldc);
}

cublasStatus_t cublasSgemm_v2_64(cublasHandle_t handle, cublasOperation_t transa,
                                 cublasOperation_t transb, int64_t m, int64_t n, int64_t k,
                                 const float* alpha, const float* a, int64_t lda, const float* b,
                                 int64_t ldb, const float* beta, float* c, int64_t ldc) {
  return tuner::cublas::sgemm("cublasSgemm_v2_64", original.sgemm_64, handle, transa, transb, m, n,
                              k, alpha, a, lda, b, ldb, beta, c, ldc);
}

cublasStatus_t cublasSgemmStridedBatched(cublasHandle_t handle, cublasOperation_t transa,
                                         cublasOperation_t transb, int m, int n, int k,
                                         const float* alpha, const float* a, int lda,
                                         long long int stridea, const float* b, int ldb,
                                         long long int strideb, const float* beta, float* c,
                                         int ldc, long long int stridec, int batch) {
  return tuner::cublas::sgemm_batched("cublasSgemmStridedBatched", original.sgemm_batched, handle,
                                      transa, transb, m, n, k, alpha, a, lda, stridea, b, ldb,
                                      strideb, beta, c, ldc, stridec, batch);
}

cublasStatus_t cublasSgemmStridedBatched_64(cublasHandle_t handle, cublasOperation_t transa,
                                            cublasOperation_t transb, int64_t m, int64_t n,
                                            int64_t k, const float* alpha, const float* a,
                                            int64_t lda, long long int stridea, const float* b,
                                            int64_t ldb, long long int strideb, const float* beta,
                                            float* c, int64_t ldc, long long int stridec,
                                            int64_t batch) {
  return tuner::cublas::sgemm_batched("cublasSgemmStridedBatched_64", original.sgemm_batched_64,
                                      handle, transa, transb, m, n, k, alpha, a, lda, stridea, b,
                                      ldb, strideb, beta, c, ldc, stridec, batch);
}

cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t transa,
                            cublasOperation_t transb, int m, int n, int k, const void* alpha,
                            const void* a, cudaDataType atype, int lda, const void* b,
                            cudaDataType btype, int ldb, const void* beta, void* c,
                            cudaDataType ctype, int ldc, cublasComputeType_t compute,
                            cublasGemmAlgo_t algorithm) {
  return tuner::cublas::gemm_ex("cublasGemmEx", original.gemm_ex, handle, transa, transb, m, n, k,
                                alpha, a, atype, lda, b, btype, ldb, beta, c, ctype, ldc, compute,
                                algorithm);
}

cublasStatus_t cublasGemmEx_64(cublasHandle_t handle, cublasOperation_t transa,
                               cublasOperation_t transb, int64_t m, int64_t n, int64_t k,
                               const void* alpha, const void* a, cudaDataType atype, int64_t lda,
                               const void* b, cudaDataType btype, int64_t ldb, const void* beta,
                               void* c, cudaDataType ctype, int64_t ldc,
                               cublasComputeType_t compute, cublasGemmAlgo_t algorithm) {
  return tuner::cublas::gemm_ex("cublasGemmEx_64", original.gemm_ex_64, handle, transa, transb, m,
                                n, k, alpha, a, atype, lda, b, btype, ldb, beta, c, ctype, ldc,
                                compute, algorithm);
}

cublasStatus_t cublasGemmStridedBatchedEx(cublasHandle_t handle, cublasOperation_t transa,
                                          cublasOperation_t transb, int m, int n, int k,
                                          const void* alpha, const void* a, cudaDataType atype,
                                          int lda, long long int stridea, const void* b,
                                          cudaDataType btype, int ldb, long long int strideb,
                                          const void* beta, void* c, cudaDataType ctype, int ldc,
                                          long long int stridec, int batch,
                                          cublasComputeType_t compute, cublasGemmAlgo_t algorithm) {
  return tuner::cublas::gemm_batched_ex("cublasGemmStridedBatchedEx", original.gemm_batched_ex,
                                        handle, transa, transb, m, n, k, alpha, a, atype, lda,
                                        stridea, b, btype, ldb, strideb, beta, c, ctype, ldc,
                                        stridec, batch, compute, algorithm);
}

cublasStatus_t cublasGemmStridedBatchedEx_64(
    cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int64_t m, int64_t n,
    int64_t k, const void* alpha, const void* a, cudaDataType atype, int64_t lda,
    long long int stridea, const void* b, cudaDataType btype, int64_t ldb, long long int strideb,
    const void* beta, void* c, cudaDataType ctype, int64_t ldc, long long int stridec,
    int64_t batch, cublasComputeType_t compute, cublasGemmAlgo_t algorithm) {
  return tuner::cublas::gemm_batched_ex("cublasGemmStridedBatchedEx_64",
                                        original.gemm_batched_ex_64, handle, transa, transb, m, n,
                                        k, alpha, a, atype, lda, stridea, b, btype, ldb, strideb,
                                        beta, c, ctype, ldc, stridec, batch, compute, algorithm);
}

cublasStatus_t cublasLtMatmul(cublasLtHandle_t handle, cublasLtMatmulDesc_t desc, const void* alpha,
                              const void* a, cublasLtMatrixLayout_t adesc, const void* b,
                              cublasLtMatrixLayout_t bdesc, const void* beta, const void* c,
                              cublasLtMatrixLayout_t cdesc, void* d, cublasLtMatrixLayout_t ddesc,
                              const cublasLtMatmulAlgo_t* algorithm, void* workspace, size_t bytes,
                              cudaStream_t stream) {
  const auto describe = [&](Detail detail) {
    return tuner::cublas::lt_product({.handle = handle,
                                      .desc = desc,
                                      .alpha = alpha,
                                      .a = a,
                                      .a_layout = adesc,
                                      .b = b,
                                      .b_layout = bdesc,
                                      .beta = beta,
                                      .c = c,
                                      .c_layout = cdesc,
                                      .d = d,
                                      .d_layout = ddesc,
                                      .stream = stream},
                                     detail);
  };
  return tuner::cublas::call(original.lt_matmul, describe, handle, desc, alpha, a, adesc, b, bdesc,
                             beta, c, cdesc, d, ddesc, algorithm, workspace, bytes, stream);
}

// Of which device a handle is, cuBLAS does not tell.
cublasStatus_t cublasCreate_v2(cublasHandle_t* handle) {
  const cublasStatus_t status = original.create(handle);
  if (status == CUBLAS_STATUS_SUCCESS) tuner::cublas::note_created(*handle);
  return status;
}

cublasStatus_t cublasDestroy_v2(cublasHandle_t handle) {
  tuner::cublas::note_destroyed(handle);
  return original.destroy(handle);
}

cublasStatus_t cublasLtCreate(cublasLtHandle_t* handle) {
  const cublasStatus_t status = original.lt_create(handle);
  if (status == CUBLAS_STATUS_SUCCESS) tuner::cublas::note_created(*handle);
  return status;
}

cublasStatus_t cublasLtDestroy(cublasLtHandle_t handle) {
  tuner::cublas::note_destroyed(handle);
  return original.lt_destroy(handle);
}

}  // extern "C"

namespace tuner::cublas {
namespace {

struct Exported {
  std::string_view name;
  void* function;
};

template <class Function>
Exported exported(std::string_view name, Function* function) {
  return {name, reinterpret_cast<void*>(function)};
}

}  // namespace

void* substitute_of(const char* name) {
  static const std::array exports = {
      exported("cublasSgemm_v2", &::cublasSgemm_v2),
      exported("cublasSgemm_v2_64", &::cublasSgemm_v2_64),
      exported("cublasSgemmStridedBatched", &::cublasSgemmStridedBatched),
      exported("cublasSgemmStridedBatched_64", &::cublasSgemmStridedBatched_64),
      exported("cublasGemmEx", static_cast<Originals::GemmEx>(&::cublasGemmEx)),
      exported("cublasGemmEx_64", &::cublasGemmEx_64),
      exported("cublasGemmStridedBatchedEx",
               static_cast<Originals::GemmStridedBatchedEx>(&::cublasGemmStridedBatchedEx)),
      exported("cublasGemmStridedBatchedEx_64", &::cublasGemmStridedBatchedEx_64),
      exported("cublasLtMatmul", &::cublasLtMatmul),
      exported("cublasCreate_v2", &::cublasCreate_v2),
      exported("cublasDestroy_v2", &::cublasDestroy_v2),
      exported("cublasLtCreate", &::cublasLtCreate),
      exported("cublasLtDestroy", &::cublasLtDestroy),
  };
  for (const Exported& it : exports) {
    if (it.name == name) return it.function;
  }
  return nullptr;
}

}  // namespace tuner::cublas
