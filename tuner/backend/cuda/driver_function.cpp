// SPDX-License-Identifier: Apache-2.0
#include "tuner/backend/cuda/driver_function.hpp"

#include "tuner/backend/cuda/runtime.hpp"
#include "tuner/core/error.hpp"

#include <fmt/format.h>

namespace tuner::backend {

void* driver_function(const char* name) {
  constexpr unsigned kVersion = 12000;
  void* function = nullptr;
  cudaDriverEntryPointQueryResult found{};
  check(cudaGetDriverEntryPointByVersion(name, &function, kVersion, cudaEnableLegacyStream, &found),
        fmt::format("find the driver's {}", name));
  if (found != cudaDriverEntryPointSuccess) {
    throw Error(ErrorCode::no_device, fmt::format("the NVIDIA driver has no {}", name));
  }
  return function;
}

}  // namespace tuner::backend
