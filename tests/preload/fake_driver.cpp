// SPDX-License-Identifier: Apache-2.0
// libcuda.so.1 and libnvrtc.so in one, as far as a program launches two kernels, which run on the
// host.
#include "fake_driver.hpp"

#include <cstdlib>
#include <cstring>
#include <map>
#include <string_view>

namespace {

struct Kernel {
  const char* name;
  std::array<std::size_t, 6> parameters;  // bytes; 0: no more
  void (*run)(void** parameters);
};

template <class T>
T argument(void** parameters, std::size_t i) {
  T value;
  std::memcpy(&value, parameters[i], sizeof value);
  return value;
}

void histogram(void** parameters) {
  const auto* const keys = argument<const int*>(parameters, 1);
  auto* const counts = argument<unsigned*>(parameters, 2);
  for (int i = 0; i < argument<int>(parameters, 0); ++i) ++counts[keys[i]];
}

void spmv(void** parameters) {
  const auto* const begins = argument<const int*>(parameters, 1);
  const auto* const columns = argument<const int*>(parameters, 2);
  const auto* const values = argument<const float*>(parameters, 3);
  const auto* const x = argument<const float*>(parameters, 4);
  auto* const y = argument<float*>(parameters, 5);
  for (int row = 0; row < argument<int>(parameters, 0); ++row) {
    float sum = 0;
    for (int i = begins[row]; i < begins[row + 1]; ++i) sum += values[i] * x[columns[i]];
    y[row] = sum;
  }
}

const Kernel kHistogram{"histogram", {4, 8, 8}, histogram};
const Kernel kSpmv{"_ZN6sparse4spmvILi2EfEEviPKiS2_PKT0_S5_PS3_", {4, 8, 8, 8, 8, 8}, spmv};

std::map<CUdeviceptr, std::size_t>& allocations() {
  static std::map<CUdeviceptr, std::size_t> all;
  return all;
}

}  // namespace

extern "C" {

CUfunction fake_kernel(const char* name) {
  const Kernel& kernel = std::string_view(name) == "spmv" ? kSpmv : kHistogram;
  return reinterpret_cast<CUfunction>(const_cast<Kernel*>(&kernel));
}

void* fake_allocate(std::size_t bytes) {
  void* const memory = std::calloc(bytes, 1);
  allocations()[reinterpret_cast<CUdeviceptr>(memory)] = bytes;
  return memory;
}

CUresult cuFuncGetName(const char** name, CUfunction function) {
  *name = reinterpret_cast<const Kernel*>(function)->name;
  return CUDA_SUCCESS;
}

CUresult cuFuncGetParamInfo(CUfunction function, std::size_t i, std::size_t* offset,
                            std::size_t* size) {
  const auto& parameters = reinterpret_cast<const Kernel*>(function)->parameters;
  if (i >= parameters.size() || parameters[i] == 0) return CUDA_ERROR_INVALID_VALUE;
  *offset = 8 * i;
  *size = parameters[i];
  return CUDA_SUCCESS;
}

CUresult cuMemGetAddressRange_v2(CUdeviceptr* begin, std::size_t* bytes, CUdeviceptr pointer) {
  for (const auto& [first, size] : allocations()) {
    if (pointer < first || pointer >= first + size) continue;
    *begin = first;
    *bytes = size;
    return CUDA_SUCCESS;
  }
  return CUDA_ERROR_NOT_FOUND;
}

CUresult cuMemcpyDtoH_v2(void* to, CUdeviceptr from, std::size_t bytes) {
  std::memcpy(to, reinterpret_cast<const void*>(from), bytes);
  return CUDA_SUCCESS;
}

CUresult cuCtxSynchronize() {
  return CUDA_SUCCESS;
}

CUresult cuStreamIsCapturing(CUstream, CUstreamCaptureStatus* status) {
  *status = CU_STREAM_CAPTURE_STATUS_NONE;
  return CUDA_SUCCESS;
}

CUresult cuLaunchKernel(CUfunction function, unsigned, unsigned, unsigned, unsigned, unsigned,
                        unsigned, unsigned, CUstream, void** parameters, void**) {
  reinterpret_cast<const Kernel*>(function)->run(parameters);
  return CUDA_SUCCESS;
}

CUresult cuGetProcAddress_v2(const char*, void** function, int, cuuint64_t,
                             CUdriverProcAddressQueryResult*) {
  *function = reinterpret_cast<void*>(&cuLaunchKernel);
  return CUDA_SUCCESS;
}

nvrtcResult nvrtcCreateProgram(nvrtcProgram* program, const char*, const char*, int,
                               const char* const*, const char* const*) {
  *program = reinterpret_cast<nvrtcProgram>(program);
  return NVRTC_SUCCESS;
}

nvrtcResult nvrtcCompileProgram(nvrtcProgram, int, const char* const*) {
  return NVRTC_SUCCESS;
}
}
