// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda.h>

#include <array>
#include <cstdint>
#include <functional>

namespace tuner::preload {

/// A launch that the program asks the driver for.
struct LaunchCall {
  CUfunction function = nullptr;
  std::array<unsigned, 3> grid{}, block{};
  unsigned shared_bytes = 0;
  CUstream stream = nullptr;
  bool has_stream_of_thread = false;  ///< the default stream is the thread's
  bool is_cluster = false;
  void** parameters = nullptr;
  void** extra = nullptr;  ///< in place of `parameters`
};

/// Launches, and records the launch where it is the one that TUNER_CAPTURE_KERNEL and
/// TUNER_CAPTURE_LAUNCH ask for: its arguments, and the memory that they point to, before and
/// after. Whatever cannot be recorded is launched all the same, with what the driver answers.
[[nodiscard]] CUresult record_launch(const LaunchCall& call,
                                     const std::function<CUresult()>& launch);

/// A function of the driver, or null. `name` is a literal.
[[nodiscard]] void* driver_function(const char* name);

}  // namespace tuner::preload
