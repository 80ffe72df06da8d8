// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/space/device.hpp"

#include <functional>
#include <string>
#include <vector>

namespace tuner::worker {

/// A device that --device names.
struct ChosenDevice {
  int ordinal = 0;   ///< of its backend
  std::string name;  ///< "0"
};

/// The devices that the text of --device names: "0", "0,2", uuids or unambiguous beginnings of
/// them, or "all". `list` is asked for the devices that there are, by ordinal, unless the text is a
/// single number: the device itself says then whether there is one. Throws Error(usage) for a text
/// that is none of these or names a device twice, Error(no_device) for a device that there is not,
/// and as `list` does.
[[nodiscard]] std::vector<ChosenDevice> chosen_devices(
    const std::string& text, const std::function<std::vector<space::DeviceInfo>()>& list);

}  // namespace tuner::worker
