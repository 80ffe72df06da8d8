// SPDX-License-Identifier: Apache-2.0
// libcublasLt.so.13 of the tests.
#include "tests/cublas/standin_call.hpp"

#include <map>
#include <vector>

namespace {

cublasStatus_t status = CUBLAS_STATUS_SUCCESS;

/// A descriptor: its attributes by number.
struct Attributes {
  std::map<int, std::vector<char>> values;
};

cublasStatus_t set(void* object, int which, const void* value, size_t bytes) {
  const auto* const begin = static_cast<const char*>(value);
  reinterpret_cast<Attributes*>(object)->values[which].assign(begin, begin + bytes);
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t get(void* object, int which, void* value, size_t bytes, size_t* written) {
  const auto& values = reinterpret_cast<Attributes*>(object)->values;
  const auto known = values.find(which);
  if (known == values.end() || known->second.size() != bytes) return CUBLAS_STATUS_INVALID_VALUE;
  std::memcpy(value, known->second.data(), bytes);
  *written = bytes;
  return CUBLAS_STATUS_SUCCESS;
}

template <class Value>
void put(void* object, int which, Value value) {
  set(object, which, &value, sizeof value);
}

template <class Value>
Value value_of(void* object, int which) {
  Value value{};
  size_t written = 0;
  get(object, which, &value, sizeof value, &written);
  return value;
}

}  // namespace

extern "C" {

StandinCall* standin_last_call() {
  static StandinCall call;
  return &call;
}

void standin_fail(cublasStatus_t failure) {
  status = failure;
}

cublasStatus_t standin_status() {
  return status;
}

cublasStatus_t cublasLtCreate(cublasLtHandle_t* handle) {
  *handle = reinterpret_cast<cublasLtHandle_t>(new char);
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtDestroy(cublasLtHandle_t handle) {
  delete reinterpret_cast<char*>(handle);
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t* desc, cublasComputeType_t compute,
                                        cudaDataType_t scale) {
  auto* const made = new Attributes;
  put<std::int32_t>(made, CUBLASLT_MATMUL_DESC_COMPUTE_TYPE, compute);
  put<std::int32_t>(made, CUBLASLT_MATMUL_DESC_SCALE_TYPE, scale);
  for (const int which :
       {CUBLASLT_MATMUL_DESC_POINTER_MODE, CUBLASLT_MATMUL_DESC_TRANSA, CUBLASLT_MATMUL_DESC_TRANSB,
        CUBLASLT_MATMUL_DESC_TRANSC, CUBLASLT_MATMUL_DESC_SM_COUNT_TARGET}) {
    put<std::int32_t>(made, which, 0);
  }
  put<std::int32_t>(made, CUBLASLT_MATMUL_DESC_FILL_MODE, CUBLAS_FILL_MODE_FULL);
  put<std::uint32_t>(made, CUBLASLT_MATMUL_DESC_EPILOGUE, CUBLASLT_EPILOGUE_DEFAULT);
  *desc = reinterpret_cast<cublasLtMatmulDesc_t>(made);
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t desc) {
  delete reinterpret_cast<Attributes*>(desc);
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t desc,
                                              cublasLtMatmulDescAttributes_t which,
                                              const void* value, size_t bytes) {
  return set(desc, which, value, bytes);
}

cublasStatus_t cublasLtMatmulDescGetAttribute(cublasLtMatmulDesc_t desc,
                                              cublasLtMatmulDescAttributes_t which, void* value,
                                              size_t bytes, size_t* written) {
  return get(desc, which, value, bytes, written);
}

cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t* layout, cudaDataType type,
                                          uint64_t rows, uint64_t columns, int64_t ld) {
  auto* const made = new Attributes;
  put<std::uint32_t>(made, CUBLASLT_MATRIX_LAYOUT_TYPE, type);
  put<std::int32_t>(made, CUBLASLT_MATRIX_LAYOUT_ORDER, CUBLASLT_ORDER_COL);
  put(made, CUBLASLT_MATRIX_LAYOUT_ROWS, rows);
  put(made, CUBLASLT_MATRIX_LAYOUT_COLS, columns);
  put(made, CUBLASLT_MATRIX_LAYOUT_LD, ld);
  put<std::int32_t>(made, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, 1);
  put<std::int64_t>(made, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, 0);
  *layout = reinterpret_cast<cublasLtMatrixLayout_t>(made);
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t layout) {
  delete reinterpret_cast<Attributes*>(layout);
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatrixLayoutSetAttribute(cublasLtMatrixLayout_t layout,
                                                cublasLtMatrixLayoutAttribute_t which,
                                                const void* value, size_t bytes) {
  return set(layout, which, value, bytes);
}

cublasStatus_t cublasLtMatrixLayoutGetAttribute(cublasLtMatrixLayout_t layout,
                                                cublasLtMatrixLayoutAttribute_t which, void* value,
                                                size_t bytes, size_t* written) {
  return get(layout, which, value, bytes, written);
}

cublasStatus_t cublasLtMatmul(cublasLtHandle_t handle, cublasLtMatmulDesc_t desc, const void* alpha,
                              const void* a, cublasLtMatrixLayout_t a_layout, const void* b,
                              cublasLtMatrixLayout_t b_layout, const void* beta, const void* c,
                              cublasLtMatrixLayout_t c_layout, void* d,
                              cublasLtMatrixLayout_t d_layout,
                              const cublasLtMatmulAlgo_t* algorithm, void* workspace,
                              size_t workspace_bytes, cudaStream_t stream) {
  standin::keep("cublasLtMatmul", handle, desc, alpha, a, a_layout, b, b_layout, beta, c, c_layout,
                d, d_layout, algorithm, workspace, workspace_bytes, stream);
  return status;
}
}
