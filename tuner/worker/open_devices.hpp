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

/// Opens the devices of a backend of this machine that the text of --device names, all at the
/// same time: "0", "0,2", uuids or unambiguous beginnings of them, or "all". Of several one that
/// cannot be opened is left out. The family must outlive them; `seed` makes the inputs of checks.
/// Throws Error(usage) for a text that is none of these or names a device twice, Error(no_device)
/// for a device that there is not, and as DeviceProcess does, the last reason when none can be
/// opened.
[[nodiscard]] OpenedDevices open_devices(const std::string& backend, const std::string& devices,
                                         const family::Family& family, std::uint64_t seed,
                                         const DeviceDeadlines& deadlines);

}  // namespace tuner::worker
