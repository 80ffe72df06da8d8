// SPDX-License-Identifier: Apache-2.0
#include "tuner/worker/open_devices.hpp"

#include "tuner/core/error.hpp"
#include "tuner/worker/device_choice.hpp"

#include <fmt/format.h>

#include <utility>

namespace tuner::worker {

OpenedDevices open_devices(const std::string& backend, const std::string& devices,
                           const family::Family& family, std::uint64_t seed,
                           const DeviceDeadlines& deadlines) {
  const std::vector<ChosenDevice> chosen = chosen_devices(devices, [&] {
    return list_devices(worker_command({"devices", backend}));
  });
  std::vector<NamedDevice> started;
  for (const ChosenDevice& each : chosen) {
    started.push_back({.name = each.name,
                       .process = std::make_unique<DeviceProcess>(
                           worker_command({"device", backend, fmt::format("{}", each.ordinal)}),
                           family, seed, deadlines, Opening::later)});
  }
  OpenedDevices opened;
  for (NamedDevice& each : started) {
    try {
      each.process->finish_opening();
      opened.devices.push_back(std::move(each));
    } catch (const Error& error) {
      const bool last = opened.devices.empty() && &each == &started.back();
      if (last || error.code() != ErrorCode::no_device) throw;
      opened.left_out.push_back(fmt::format("device {} is left out: {}", each.name, error.what()));
    }
  }
  return opened;
}

}  // namespace tuner::worker
