// SPDX-License-Identifier: Apache-2.0
// The functions of cuBLAS behind those that this library exports.
#pragma once

#include <cublasLt.h>
#include <cublas_v2.h>

#include <atomic>

namespace tuner::cublas {

/// Of which library a function is.
enum class Of { cublas, cublas_lt };

/// The function that the program would have called without this library: the next one of its name
/// in the order of the program, else that of a cuBLAS that was loaded for a part of the program
/// alone (RTLD_LOCAL). Null where cuBLAS is not loaded.
[[nodiscard]] void* find_original(const char* name, Of library);

/// A function of cuBLAS, found at its first use: cuBLAS may be loaded after this library.
template <class Function>
class Original {
 public:
  constexpr Original(const char* name, Of library) : name_(name), library_(library) {}

  /// Null where cuBLAS is not loaded, or is of a version that has no such function.
  [[nodiscard]] Function get() const {
    void* address = address_.load(std::memory_order_acquire);
    if (address == nullptr) {
      address = find_original(name_, library_);
      address_.store(address, std::memory_order_release);
    }
    return reinterpret_cast<Function>(address);
  }
  /// What the function returns; CUBLAS_STATUS_NOT_INITIALIZED where it is not there.
  template <class... Arguments>
  cublasStatus_t operator()(Arguments... arguments) const {
    const Function function = get();
    return function == nullptr ? CUBLAS_STATUS_NOT_INITIALIZED : function(arguments...);
  }

 private:
  const char* name_;
  Of library_;
  mutable std::atomic<void*> address_ = nullptr;
};

/// All of them. Constant from the start: a program may call before this library's constructors run.
struct Originals {
  Original<decltype(&cublasSgemm_v2)> sgemm{"cublasSgemm_v2", Of::cublas};
  Original<decltype(&cublasSgemm_v2_64)> sgemm_64{"cublasSgemm_v2_64", Of::cublas};
  Original<decltype(&cublasSgemmStridedBatched)> sgemm_batched{"cublasSgemmStridedBatched",
                                                               Of::cublas};
  Original<decltype(&cublasSgemmStridedBatched_64)> sgemm_batched_64{"cublasSgemmStridedBatched_64",
                                                                     Of::cublas};
  // The headers overload these two for C++.
  using GemmEx = cublasStatus_t (*)(cublasHandle_t, cublasOperation_t, cublasOperation_t, int, int,
                                    int, const void*, const void*, cudaDataType, int, const void*,
                                    cudaDataType, int, const void*, void*, cudaDataType, int,
                                    cublasComputeType_t, cublasGemmAlgo_t);
  Original<GemmEx> gemm_ex{"cublasGemmEx", Of::cublas};
  Original<decltype(&cublasGemmEx_64)> gemm_ex_64{"cublasGemmEx_64", Of::cublas};
  using GemmStridedBatchedEx = cublasStatus_t (*)(
      cublasHandle_t, cublasOperation_t, cublasOperation_t, int, int, int, const void*, const void*,
      cudaDataType, int, long long int, const void*, cudaDataType, int, long long int, const void*,
      void*, cudaDataType, int, long long int, int, cublasComputeType_t, cublasGemmAlgo_t);
  Original<GemmStridedBatchedEx> gemm_batched_ex{"cublasGemmStridedBatchedEx", Of::cublas};
  Original<decltype(&cublasGemmStridedBatchedEx_64)> gemm_batched_ex_64{
      "cublasGemmStridedBatchedEx_64", Of::cublas};
  Original<decltype(&cublasLtMatmul)> lt_matmul{"cublasLtMatmul", Of::cublas_lt};
  Original<decltype(&cublasCreate_v2)> create{"cublasCreate_v2", Of::cublas};
  Original<decltype(&cublasDestroy_v2)> destroy{"cublasDestroy_v2", Of::cublas};
  Original<decltype(&cublasLtCreate)> lt_create{"cublasLtCreate", Of::cublas_lt};
  Original<decltype(&cublasLtDestroy)> lt_destroy{"cublasLtDestroy", Of::cublas_lt};

  // Which this library does not export.
  Original<decltype(&cublasGetStream_v2)> get_stream{"cublasGetStream_v2", Of::cublas};
  Original<decltype(&cublasGetPointerMode_v2)> get_pointer_mode{"cublasGetPointerMode_v2",
                                                                Of::cublas};
  Original<decltype(&cublasGetMathMode)> get_math_mode{"cublasGetMathMode", Of::cublas};
  Original<decltype(&cublasGetSmCountTarget)> get_sm_count_target{"cublasGetSmCountTarget",
                                                                  Of::cublas};
  Original<decltype(&cublasLtMatmulDescGetAttribute)> get_desc{"cublasLtMatmulDescGetAttribute",
                                                               Of::cublas_lt};
  Original<decltype(&cublasLtMatrixLayoutGetAttribute)> get_layout{
      "cublasLtMatrixLayoutGetAttribute", Of::cublas_lt};
};

extern const Originals original;

}  // namespace tuner::cublas
