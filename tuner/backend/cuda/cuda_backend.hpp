// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/backend/application.hpp"
#include "tuner/backend/backend.hpp"
#include "tuner/backend/executor.hpp"
#include "tuner/backend/registry.hpp"

#include <memory>
#include <vector>

namespace tuner::backend {

/// A GPU through the CUDA runtime, NVRTC and cuBLAS, counted from 0. Changes no clocks, limits or
/// modes of the card. Throws Error(no_device) when there is no such GPU or a library is missing.
[[nodiscard]] std::unique_ptr<Backend> open_cuda_backend(int ordinal);

/// The GPUs by ordinal. Makes no CUDA context. Throws Error(no_device) when there is none.
[[nodiscard]] std::vector<space::DeviceInfo> list_cuda_devices();

/// The driver, the GPUs and the libraries of the CUDA Toolkit on this machine.
[[nodiscard]] std::vector<Finding> examine_cuda();

/// As open_application("cuda").
[[nodiscard]] std::unique_ptr<Application> open_cuda_application();

/// A GPU for an application's own launches, through the driver: kernels run in whatever context is
/// current, or in the device's primary one where none is. Throws Error(no_device) when there is no
/// such GPU or a library is missing.
[[nodiscard]] std::unique_ptr<Executor> open_cuda_executor(int ordinal);

}  // namespace tuner::backend
