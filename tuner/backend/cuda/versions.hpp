// SPDX-License-Identifier: Apache-2.0
// What this backend needs of the CUDA Toolkit and of the driver. Numbers are CUDA's: 12040 is 12.4.
#pragma once

#include <string>

namespace tuner::backend {

/// The oldest CUDA Toolkit: of its headers and static runtime at build time, which
/// cmake/Dependencies.cmake checks, and of NVRTC and cuBLAS at run time.
inline constexpr int kOldestToolkit = 12040;

/// The oldest CUDA that a driver must support: release 550.54.
inline constexpr int kOldestDriver = 12040;

/// The driver that this build needs: CUDA's static runtime starts on drivers of its major version
/// and of later ones.
[[nodiscard]] constexpr int driver_needed(int runtime_version) {
  const int major = runtime_version / 1000 * 1000;
  return major > kOldestDriver ? major : kOldestDriver;
}

/// "12.4".
[[nodiscard]] inline std::string version_text(int version) {
  return std::to_string(version / 1000) + '.' + std::to_string(version % 1000 / 10);
}

}  // namespace tuner::backend
