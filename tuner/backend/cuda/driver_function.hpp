// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace tuner::backend {

/// The address of a function of the driver, as of CUDA 12.0. Reached through the runtime: linking
/// the driver would tie the program to machines that have one. Throws Error(no_device) when the
/// driver has no such function.
[[nodiscard]] void* driver_function(const char* name);

}  // namespace tuner::backend
