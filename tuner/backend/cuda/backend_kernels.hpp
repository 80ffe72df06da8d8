// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/backend/backend.hpp"
#include "tuner/backend/cuda/cuda_kernel.hpp"

#include <string>

namespace tuner::backend {

/// The compilation of a kernel of backend_kernels.cu, by its name.
[[nodiscard]] family::CompileJob backend_kernel_job(const std::string& entry);

/// One of them on the current device. Throws Error(failure) when it cannot be compiled or loaded.
[[nodiscard]] CudaKernel load_backend_kernel(const Compiler& compiler, const std::string& entry);

}  // namespace tuner::backend
