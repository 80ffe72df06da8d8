// SPDX-License-Identifier: Apache-2.0
// A program that is linked to cuBLAS.
//   cublas_program ROUNDS [exit CODE | raise SIGNAL | wait | many]
// Multiplies ROUNDS times, in four ways; then ends as an argument says, or waits for SIGUSR1.
#include <cublasLt.h>
#include <cublas_v2.h>

#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <unistd.h>
#include <vector>

namespace {

/// What it must print, wherever the products are done.
double sum_of_products(int rounds) {
  cublasHandle_t handle = nullptr;
  cublasCreate_v2(&handle);
  std::vector<float> a(64 * 32), b(32 * 16), c(64 * 16), other(4);
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = static_cast<float>(i % 7);
  for (std::size_t i = 0; i < b.size(); ++i) b[i] = static_cast<float>(i % 5);
  const float one = 1, zero = 0;
  for (int round = 0; round < rounds; ++round) {
    cublasSgemm_v2(handle, CUBLAS_OP_N, CUBLAS_OP_N, 64, 16, 32, &one, a.data(), 64, b.data(), 32,
                   &zero, c.data(), 64);
    cublasSgemmStridedBatched(handle, CUBLAS_OP_N, CUBLAS_OP_N, 8, 8, 4, &one, a.data(), 8, 32,
                              b.data(), 4, 32, &one, c.data(), 8, 64, 4);
    for (const auto type : {CUDA_R_16BF, CUDA_R_8F_E5M2}) {
      cublasGemmEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, 2, 2, 2, &one, a.data(), type, 2, b.data(),
                   type, 2, &zero, other.data(), type, 2, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT);
    }
  }
  cublasDestroy_v2(handle);
  double sum = 0;
  for (const float value : c) sum += double{value};
  return sum;
}

/// More of them than a grid has layers.
void multiply_many() {
  cublasHandle_t handle = nullptr;
  cublasCreate_v2(&handle);
  std::vector<float> a(70'000), c(70'000);
  const float one = 1, zero = 0;
  cublasSgemmStridedBatched(handle, CUBLAS_OP_N, CUBLAS_OP_N, 1, 1, 1, &one, a.data(), 1, 1,
                            a.data(), 1, 1, &zero, c.data(), 1, 1, 70'000);
  cublasDestroy_v2(handle);
}

volatile std::sig_atomic_t is_done = 0;

}  // namespace

int main(int argc, char** argv) {
  const std::string_view end = argc > 2 ? argv[2] : "";
  std::signal(SIGUSR1, [](int) { is_done = 1; });
  std::printf("%.0f\n", sum_of_products(std::atoi(argv[1])));
  std::fflush(stdout);
  if (end == "many") multiply_many();
  if (end == "exit") return std::atoi(argv[3]);
  if (end == "raise") std::raise(std::atoi(argv[3]));
  if (end != "wait") return 0;
  ::alarm(60);
  while (is_done == 0) ::usleep(1000);
  std::puts("done");
}
