// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/space/device.hpp"

#include <string>

namespace tuner::backend {

/// This machine's processor with the limits of a GPU of the Hopper generation, so that a space has
/// the same configurations here as there; cores, level-2 cache and memory are the machine's own.
[[nodiscard]] space::DeviceInfo cpu_device();

}  // namespace tuner::backend
