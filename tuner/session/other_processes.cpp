// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/other_processes.hpp"

#include "tuner/core/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tuner::session {

OtherProcesses::OtherProcesses(worker::DeviceWorker& device, SharedDevice shared_device)
    : device_(device) {
  const std::vector<int> others = device_.other_processes();
  seen_ = !others.empty();
  if (others.empty() || shared_device == SharedDevice::accepted) return;
  throw Error(
      ErrorCode::no_device,
      fmt::format("{} is used by other processes ({} {}), which affect the times: wait for them, "
                  "choose another GPU with --device, or accept it with --allow-shared",
                  device_.device().name, others.size() == 1 ? "process" : "processes",
                  fmt::join(others, ", ")));
}

}  // namespace tuner::session
