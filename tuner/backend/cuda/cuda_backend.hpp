// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/backend/backend.hpp"
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

}  // namespace tuner::backend
