// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/backend/backend.hpp"
#include "tuner/backend/cuda/cuda_kernel.hpp"

#include <bit>
#include <cstdint>
#include <string>

namespace tuner {

/// The compilation of a kernel of backend_kernels.cu, by its name.
[[nodiscard]] CompileJob backend_kernel_job(const std::string& entry);

/// One of them on the current device. Throws Error(failure) when it cannot be compiled or loaded.
[[nodiscard]] CudaKernel load_backend_kernel(const Compiler& compiler, const std::string& entry);

/// The argument of a launch that is a pointer or a 64-bit number.
template <class Value>
[[nodiscard]] KernelArgument word_argument(Value value) {
  static_assert(sizeof value == sizeof(std::uint64_t));
  return {.bits = std::bit_cast<std::uint64_t>(value), .size_bytes = sizeof value};
}

}  // namespace tuner
