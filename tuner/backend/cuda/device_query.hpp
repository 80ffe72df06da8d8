// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/space/device.hpp"

#include <string>

namespace tuner {

/// The GPUs that CUDA can use here: how many, and if none, what is in the way and how to mend it.
struct CudaDevices {
  int count = 0;
  std::string problem;  ///< "no NVIDIA driver found (libcuda.so.1)"
  std::string remedy;
};

/// Makes no CUDA context.
[[nodiscard]] CudaDevices find_cuda_devices();

/// Throws Error(failure) when the device does not answer. Makes no CUDA context.
[[nodiscard]] DeviceInfo cuda_device_info(int ordinal);

/// The newest CUDA version that the driver supports, "13.0"; empty without a driver.
[[nodiscard]] std::string cuda_driver_version();

}  // namespace tuner
