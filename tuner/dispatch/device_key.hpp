// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/space/device.hpp"

#include <string>

namespace tuner::dispatch {

/// Of a device model and the versions it runs with, for keys of what is kept of them.
[[nodiscard]] std::string device_key(const space::DeviceInfo& device,
                                     const space::EnvironmentInfo& environment);

}  // namespace tuner::dispatch
