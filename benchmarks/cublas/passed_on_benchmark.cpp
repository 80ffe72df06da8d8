// SPDX-License-Identifier: Apache-2.0
// What libtuner_cublas.so adds to a call of cuBLAS that it passes on, in time of the processor:
//   passed_on_benchmark [ROUNDS]
// The library is preloaded, and cuBLAS is the tests' stand-in. Each call is measured in turn with
// the same call of the stand-in's own function; the figure is the median over the rounds. With
// TUNER_CUBLAS=record and a folder in TUNER_CUBLAS_RECORDING: what counting a call adds.
#include "tests/cublas/gemm_family.hpp"
#include "tests/cublas/standin.hpp"
#include "tuner/backend/executor.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <functional>
#include <unistd.h>
#include <vector>

namespace {

/// So few that most rounds lie within a time slice of the system.
constexpr int kCalls = 1000;

double ns_of(const std::function<void()>& call) {
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < kCalls; ++i) call();
  const std::chrono::duration<double, std::nano> time = std::chrono::steady_clock::now() - begin;
  return time.count() / kCalls;
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

void compare(const char* what, int rounds, const std::function<void()>& call,
             const std::function<void()>& original) {
  std::vector<double> added, bare;
  for (int round = 0; round < rounds; ++round) {
    const double alone = ns_of(original);
    bare.push_back(alone);
    added.push_back(ns_of(call) - alone);
  }
  std::printf("%-44s %6.1f ns, of which cuBLAS's stand-in %5.1f ns\n", what,
              median(added) + median(bare), median(bare));
  std::printf("%-44s %6.1f ns added\n", "", median(added));
}

}  // namespace

int main(int argc, char** argv) {
  if (std::getenv("LD_PRELOAD") == nullptr) {
    ::setenv("LD_PRELOAD", TUNER_CUBLAS_LIBRARY, 1);
    ::setenv("TUNER_CUBLAS_BACKEND", "cpu", 1);
    ::setenv("TUNER_LOG", "off", 1);
    ::execv("/proc/self/exe", argv);
    return 1;
  }
  const auto executor = tuner::backend::open_executor("cpu", 0);
  tuner::dispatch::TunedDatabase database(executor->device(), executor->environment());
  database.add_all(tuner::cublas::tuned_gemm({"1,1,1"}, 0.5));
  ::setenv("TUNER_DB", database.path().c_str(), 1);
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 1001;
  cublasHandle_t handle = nullptr;
  cublasCreate_v2(&handle);
  const float one = 1, zero = 0;
  float a = 1, b = 1, c = 1;
  standin_fail(CUBLAS_STATUS_EXECUTION_FAILED);  // it returns at once
  // The stand-in's own functions: with their version, which a preloaded library has not.
  void* const library = ::dlopen("libcublas.so.13", RTLD_NOW | RTLD_NOLOAD);
  const auto sgemm = reinterpret_cast<decltype(&cublasSgemm_v2)>(
      ::dlvsym(library, "cublasSgemm_v2", "libcublas.so.13"));
  const auto gemm_ex = reinterpret_cast<decltype(&cublasGemmEx_64)>(
      ::dlvsym(library, "cublasGemmEx_64", "libcublas.so.13"));
  void* const lt = ::dlopen("libcublasLt.so.13", RTLD_NOW | RTLD_NOLOAD);
  const auto matmul = reinterpret_cast<decltype(&cublasLtMatmul)>(
      ::dlvsym(lt, "cublasLtMatmul", "libcublasLt.so.13"));
  const auto by = [&](auto function) {
    return [&, function] {
      function(handle, CUBLAS_OP_N, CUBLAS_OP_N, 1, 1, 1, &one, &a, 1, &b, 1, &zero, &c, 1);
    };
  };
  const auto bf16 = [&](auto function) {
    return [&, function] {
      function(handle, CUBLAS_OP_N, CUBLAS_OP_N, 1, 1, 1, &one, &a, CUDA_R_16BF, 1, &b, CUDA_R_16BF,
               1, &zero, &c, CUDA_R_16BF, 1, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT);
    };
  };
  compare("cublasGemmEx of bfloat16", rounds, bf16(&cublasGemmEx_64), bf16(gemm_ex));
  cublasSetMathMode(handle, CUBLAS_TF32_TENSOR_OP_MATH);
  compare("cublasSgemm with TF32", rounds, by(&cublasSgemm_v2), by(sgemm));
  cublasSetMathMode(handle, CUBLAS_DEFAULT_MATH);
  compare("cublasSgemm where it is as fast", rounds, by(&cublasSgemm_v2), by(sgemm));
  cublasLtMatmulDesc_t desc = nullptr;
  cublasLtMatmulDescCreate(&desc, CUBLAS_COMPUTE_32F, CUDA_R_32F);
  const auto epilogue = CUBLASLT_EPILOGUE_BIAS;
  cublasLtMatmulDescSetAttribute(desc, CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogue, sizeof epilogue);
  cublasLtMatrixLayout_t layout = nullptr;
  cublasLtMatrixLayoutCreate(&layout, CUDA_R_32F, 1, 1, 1);
  const auto biased = [&](auto function) {
    return [&, function] {
      function(reinterpret_cast<cublasLtHandle_t>(handle), desc, &one, &a, layout, &b, layout,
               &zero, &c, layout, &c, layout, nullptr, nullptr, 0, nullptr);
    };
  };
  compare("cublasLtMatmul with bias", rounds, biased(&cublasLtMatmul), biased(matmul));
  return sgemm == nullptr || sgemm == &cublasSgemm_v2 ? 1 : 0;
}
