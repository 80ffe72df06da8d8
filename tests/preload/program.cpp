// SPDX-License-Identifier: Apache-2.0
// Launches a histogram, compiled by NVRTC, by what cuGetProcAddress gives, as CUDA's runtime does;
// or, with the argument "spmv", a product with a sparse matrix by the driver's own function.
#include "fake_driver.hpp"

#include <cstdio>
#include <cstring>
#include <dlfcn.h>

namespace {

constexpr const char* kSource = R"(
#include <step.cuh>
#ifndef STEP
#define STEP 1
#endif
extern "C" __global__ void histogram(int n, const int* keys, unsigned* counts) {
  const int threads = gridDim.x * blockDim.x;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += threads) {
    atomicAdd(&counts[keys[i]], step(STEP));
  }
}
)";

template <class Function>
Function found(void* library, const char* name) {
  return reinterpret_cast<Function>(::dlsym(library, name));
}

void launch_histogram() {
  void* const library = ::dlopen("libcuda.so.1", RTLD_LAZY);
  nvrtcProgram program = nullptr;
  const char* const options[] = {"-DSTEP=1", "--std=c++17", "-arch=sm_90", "-I" TUNER_TEST_HEADERS};
  found<decltype(&nvrtcCreateProgram)>(library, "nvrtcCreateProgram")(&program, kSource, nullptr, 0,
                                                                      nullptr, nullptr);
  found<decltype(&nvrtcCompileProgram)>(library, "nvrtcCompileProgram")(program, 4, options);
  void* launch = nullptr;
  found<CUresult (*)(const char*, void**, int, cuuint64_t, CUdriverProcAddressQueryResult*)>(
      library, "cuGetProcAddress_v2")("cuLaunchKernel", &launch, 13000, 0, nullptr);
  constexpr int kKeys = 1000, kCounts = 16;
  // One allocation, as a pool has: the counts follow the keys.
  auto* const memory = static_cast<int*>(fake_allocate((kKeys + kCounts) * sizeof(int)));
  for (int i = 0; i < kKeys; ++i) memory[i] = i * i % kCounts;
  int n = kKeys;
  const int* keys = memory;
  int* counts = memory + kKeys;
  void* parameters[] = {&n, &keys, &counts};
  for (int i = 0; i < 2; ++i) {
    reinterpret_cast<decltype(&cuLaunchKernel)>(launch)(fake_kernel("histogram"), 4, 1, 1, 96, 1, 1,
                                                        0, nullptr, parameters, nullptr);
  }
  std::printf("%d\n", counts[1]);
}

void launch_spmv() {
  constexpr int kRows = 500, kPerRow = 3;
  auto* begins = static_cast<int*>(fake_allocate((kRows + 1) * sizeof(int)));
  auto* columns = static_cast<int*>(fake_allocate(kRows * kPerRow * sizeof(int)));
  auto* values = static_cast<float*>(fake_allocate(kRows * kPerRow * sizeof(float)));
  auto* x = static_cast<float*>(fake_allocate(kRows * sizeof(float)));
  auto* y = static_cast<float*>(fake_allocate(kRows * sizeof(float)));
  for (int row = 0; row < kRows; ++row) {
    begins[row + 1] = begins[row] + row % (kPerRow + 1);
    x[row] = 1.0F / static_cast<float>(row + 1);
    for (int i = begins[row]; i < begins[row + 1]; ++i) {
      columns[i] = (row * 7 + i) % kRows;
      values[i] = static_cast<float>(i % 5) - 1.7F;
    }
  }
  int rows = kRows;
  void* parameters[] = {&rows, &begins, &columns, &values, &x, &y};
  cuLaunchKernel(fake_kernel("spmv"), 4, 1, 1, 64, 1, 1, 0, nullptr, parameters, nullptr);
}

}  // namespace

int main(int count, char** arguments) {
  if (count > 1 && std::strcmp(arguments[1], "spmv") == 0) {
    launch_spmv();
  } else {
    launch_histogram();
  }
}
