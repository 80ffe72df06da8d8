// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/worker/device_process.hpp"

#include <memory>
#include <string>
#include <vector>

namespace tuner::worker {

/// A device that a user has named, driven by a process of its own.
struct NamedDevice {
  std::string name;  ///< "0"
  std::unique_ptr<DeviceProcess> process;
};

struct OpenedDevices {
  std::vector<NamedDevice> devices;   ///< at least one
  std::vector<std::string> left_out;  ///< "device 1 is left out: …"
};

/// Opens the devices of a backend of this machine that a text names (chosen_devices), all at the
/// same time. Of several one that cannot be opened is left out. The family must outlive them;
/// `seed` makes the inputs of checks. Throws as chosen_devices and DeviceProcess do, the last
/// reason when none can be opened.
[[nodiscard]] OpenedDevices open_devices(const std::string& backend, const std::string& devices,
                                         const family::Family& family, std::uint64_t seed,
                                         const DeviceDeadlines& deadlines);

}  // namespace tuner::worker
