// SPDX-License-Identifier: Apache-2.0
#include "tuner/backend/cuda/driver.hpp"

#include <fmt/format.h>

namespace tuner::backend {
namespace {

/// Refused before anything ran on the device. To be in this list a code must be known to leave the
/// context whole.
bool is_refusal(CUresult result) {
  switch (result) {
    case CUDA_ERROR_INVALID_VALUE:
    case CUDA_ERROR_OUT_OF_MEMORY:
    case CUDA_ERROR_INVALID_IMAGE:
    case CUDA_ERROR_INVALID_CONTEXT:
    case CUDA_ERROR_NO_BINARY_FOR_GPU:
    case CUDA_ERROR_INVALID_PTX:
    case CUDA_ERROR_UNSUPPORTED_PTX_VERSION:
    case CUDA_ERROR_INVALID_SOURCE:
    case CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND:
    case CUDA_ERROR_SHARED_OBJECT_INIT_FAILED:
    case CUDA_ERROR_INVALID_HANDLE:
    case CUDA_ERROR_NOT_FOUND:
    case CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES:
    case CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE:
    case CUDA_ERROR_NOT_PERMITTED:
    case CUDA_ERROR_NOT_SUPPORTED:
    case CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED:
    case CUDA_ERROR_STREAM_CAPTURE_INVALIDATED:
    case CUDA_ERROR_STREAM_CAPTURE_IMPLICIT:
    case CUDA_ERROR_INVALID_CLUSTER_SIZE:
      return true;
    default:
      return false;
  }
}

/// Refused because of what holds at the moment, not of what was asked for.
bool is_transient(CUresult result) {
  switch (result) {
    case CUDA_ERROR_OUT_OF_MEMORY:
    case CUDA_ERROR_INVALID_CONTEXT:
    case CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED:
    case CUDA_ERROR_STREAM_CAPTURE_INVALIDATED:
    case CUDA_ERROR_STREAM_CAPTURE_IMPLICIT:
      return true;
    default:
      return false;
  }
}

}  // namespace

const DriverApi& driver_api() {
  static const DriverApi api;
  return api;
}

Expected<void, Failure> attempt(const DriverApi& api, CUresult result) {
  if (result == CUDA_SUCCESS) return {};
  const char* name = nullptr;
  const char* text = nullptr;
  api.error_name(result, &name);
  api.error_string(result, &text);
  return Unexpected(Failure{is_refusal(result) ? Outcome::launch_error : Outcome::crashed,
                            fmt::format("{} ({}): {}", name == nullptr ? "unknown" : name,
                                        static_cast<int>(result), text == nullptr ? "" : text),
                            is_transient(result)});
}

CUresult launch(const DriverApi& api, CUkernel kernel, const family::Geometry& geometry,
                void** arguments, CUstream stream) {
  CUlaunchAttribute serialization{};
  serialization.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
  serialization.value.programmaticStreamSerializationAllowed = 1;
  const CUlaunchConfig configuration{.gridDimX = geometry.grid[0],
                                     .gridDimY = geometry.grid[1],
                                     .gridDimZ = geometry.grid[2],
                                     .blockDimX = geometry.block[0],
                                     .blockDimY = geometry.block[1],
                                     .blockDimZ = geometry.block[2],
                                     .sharedMemBytes = geometry.dynamic_shared_bytes,
                                     .hStream = stream,
                                     .attrs = &serialization,
                                     .numAttrs = geometry.programmatic ? 1U : 0U};
  return api.launch_kernel(&configuration, reinterpret_cast<CUfunction>(kernel), arguments,
                           nullptr);
}

CaptureBystander::CaptureBystander(const DriverApi& api) : api_(api) {
  api_.exchange_capture_mode(&mode_);
}

CaptureBystander::~CaptureBystander() {
  api_.exchange_capture_mode(&mode_);
}

}  // namespace tuner::backend
