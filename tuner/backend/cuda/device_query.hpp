// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/space/device.hpp"

#include <span>
#include <string>
#include <string_view>

namespace tuner::backend {

/// The GPUs that CUDA can use here: how many, and if none, what is in the way and how to fix it.
struct CudaDevices {
  int count = 0;
  std::string problem;  ///< "no NVIDIA driver found (libcuda.so.1)"
  std::string remedy;
};

/// Makes no CUDA context.
[[nodiscard]] CudaDevices find_cuda_devices();

/// Throws Error(failure) when the device does not answer. Makes no CUDA context.
[[nodiscard]] space::DeviceInfo cuda_device_info(int ordinal);

/// A card's uuid as nvidia-smi -L writes it. A slice of a GPU in MIG mode has one of its own; its
/// name says what it is: "NVIDIA H100 80GB HBM3 MIG 1g.10gb".
[[nodiscard]] std::string uuid_text(std::span<const char, 16> bytes, std::string_view name);

/// Whether programs on the device share its contexts by MPS. False where the driver is too old to
/// say.
[[nodiscard]] bool is_shared_by_mps(int ordinal);

/// The newest CUDA version that the driver supports, "13.0"; empty without a driver.
[[nodiscard]] std::string cuda_driver_version();

/// The release in what the driver's kernel module says of itself (/proc/driver/nvidia/version):
/// "580.159.04"; empty when there is none.
[[nodiscard]] std::string driver_release(std::string_view module_text);

/// What results are kept under: the driver's release, or "CUDA 13.0" where the kernel module
/// cannot be asked (some containers); empty without a driver.
[[nodiscard]] std::string driver_identity();

}  // namespace tuner::backend
