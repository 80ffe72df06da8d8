// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/space/device.hpp"

#include <string>
#include <string_view>

namespace tuner::backend {

/// The GPUs that CUDA can use here: how many, and if none, what is in the way and how to mend it.
struct CudaDevices {
  int count = 0;
  std::string problem;  ///< "no NVIDIA driver found (libcuda.so.1)"
  std::string remedy;
};

/// Makes no CUDA context.
[[nodiscard]] CudaDevices find_cuda_devices();

/// Throws Error(failure) when the device does not answer. Makes no CUDA context.
[[nodiscard]] space::DeviceInfo cuda_device_info(int ordinal);

/// The newest CUDA version that the driver supports, "13.0"; empty without a driver.
[[nodiscard]] std::string cuda_driver_version();

/// The release in what the driver's kernel module says of itself (/proc/driver/nvidia/version):
/// "580.159.04"; empty when there is none.
[[nodiscard]] std::string driver_release(std::string_view module_text);

/// What results are kept under: the driver's release, or "CUDA 13.0" where the kernel module
/// cannot be asked (some containers); empty without a driver.
[[nodiscard]] std::string driver_identity();

}  // namespace tuner::backend
