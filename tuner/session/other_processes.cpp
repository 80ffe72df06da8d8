// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/other_processes.hpp"

#include "tuner/core/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tuner::session {
namespace {

bool is_shared(const backend::Conditions& now) {
  return now.mps || !now.other_processes.empty();
}

}  // namespace

OtherProcesses::OtherProcesses(worker::DeviceWorker& device, SharedDevice shared_device)
    : device_(device) {
  const backend::Conditions now = device_.conditions();
  seen_ = is_shared(now);
  if (!seen_ || shared_device == SharedDevice::accepted) return;
  const std::string& name = device_.device().name;
  if (now.mps) {
    throw Error(ErrorCode::no_device,
                fmt::format("programs share {} by MPS: a candidate that fails would end them, and "
                            "they affect the times: end the MPS daemon, choose another GPU with "
                            "--device, or accept it with --allow-shared",
                            name));
  }
  throw Error(
      ErrorCode::no_device,
      fmt::format("{} is used by other processes ({} {}), which affect the times: wait for them, "
                  "choose another GPU with --device, or accept it with --allow-shared",
                  name, now.other_processes.size() == 1 ? "process" : "processes",
                  fmt::join(now.other_processes, ", ")));
}

void OtherProcesses::look() {
  seen_ = seen_ || is_shared(device_.conditions());
}

}  // namespace tuner::session
