// SPDX-License-Identifier: Apache-2.0
#include "tuner/backend/cuda/runtime.hpp"

#include "tuner/core/error.hpp"

#include <fmt/format.h>

#include <cstring>

namespace tuner::backend {
namespace {

/// The runtime refused before anything ran on the device. To be in this list a code must be known
/// to leave the context whole.
bool is_refusal(cudaError_t error) {
  switch (error) {
    case cudaErrorInvalidValue:
    case cudaErrorMemoryAllocation:
    case cudaErrorInvalidConfiguration:
    case cudaErrorInvalidDeviceFunction:
    case cudaErrorInvalidKernelImage:
    case cudaErrorNoKernelImageForDevice:
    case cudaErrorInvalidPtx:
    case cudaErrorUnsupportedPtxVersion:
    case cudaErrorSharedObjectSymbolNotFound:
    case cudaErrorSharedObjectInitFailed:
    case cudaErrorInvalidResourceHandle:
    case cudaErrorSymbolNotFound:
    case cudaErrorLaunchOutOfResources:
    case cudaErrorCooperativeLaunchTooLarge:
    case cudaErrorNotPermitted:
    case cudaErrorNotSupported:
    case cudaErrorInvalidClusterSize:
      return true;
    default:
      return false;
  }
}

double gibibytes(std::size_t size_bytes) {
  return static_cast<double>(size_bytes) / (1024.0 * 1024.0 * 1024.0);
}

}  // namespace

std::string describe(cudaError_t error) {
  const std::string_view hint = error == cudaErrorMisalignedAddress
                                    ? "; buffers have the alignment that the space file declares: "
                                      "a kernel that loads or stores vectors needs \"align\""
                                    : "";
  return fmt::format("{} ({}): {}{}", cudaGetErrorName(error), static_cast<int>(error),
                     cudaGetErrorString(error), hint);
}

Expected<void, Failure> attempt(cudaError_t result) {
  if (result == cudaSuccess) return {};
  if (!is_refusal(result)) return Unexpected(Failure{Outcome::crashed, describe(result)});
  static_cast<void>(cudaGetLastError());
  return Unexpected(Failure{Outcome::launch_error, describe(result)});
}

Expected<void, Failure> finish(cudaStream_t stream) {
  const cudaError_t result = cudaStreamSynchronize(stream);
  if (result == cudaSuccess) return {};
  return Unexpected(Failure{Outcome::crashed, describe(result)});
}

void check(cudaError_t result, std::string_view action) {
  if (result == cudaSuccess) return;
  static_cast<void>(cudaGetLastError());
  throw Error(ErrorCode::failure, fmt::format("cannot {}: {}", action, describe(result)));
}

Stream make_stream() {
  cudaStream_t stream = nullptr;
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "create a CUDA stream");
  return Stream(stream);
}

Event make_event() {
  cudaEvent_t event = nullptr;
  check(cudaEventCreate(&event), "create a CUDA event");
  return Event(event);
}

DeviceMemory make_device_memory(std::size_t size_bytes) {
  void* memory = nullptr;
  const cudaError_t result = cudaMalloc(&memory, size_bytes);
  if (result == cudaErrorMemoryAllocation) {
    static_cast<void>(cudaGetLastError());
    std::size_t free_bytes = 0;
    std::size_t total_bytes = 0;
    check(cudaMemGetInfo(&free_bytes, &total_bytes), "query the free device memory");
    throw Error(ErrorCode::failure,
                fmt::format("not enough device memory: {:.2f} GiB requested, {:.2f} of {:.2f} GiB "
                            "free. Tune a smaller size, or end other programs on this GPU.",
                            gibibytes(size_bytes), gibibytes(free_bytes), gibibytes(total_bytes)));
  }
  check(result, "allocate device memory");
  return DeviceMemory(static_cast<std::byte*>(memory));
}

PinnedMemory make_pinned_memory(std::size_t size_bytes) {
  void* memory = nullptr;
  check(cudaHostAlloc(&memory, size_bytes, cudaHostAllocMapped), "allocate pinned host memory");
  std::memset(memory, 0, size_bytes);
  return PinnedMemory(static_cast<std::byte*>(memory));
}

double elapsed_ns(const Event& begin, const Event& end) {
  float time_ms = 0.0F;
  check(cudaEventElapsedTime(&time_ms, begin.get(), end.get()), "read a CUDA event");
  return 1e6 * static_cast<double>(time_ms);
}

}  // namespace tuner::backend
