// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/session/session.hpp"
#include "tuner/worker/device_worker.hpp"

namespace tuner::session {

/// Whether other processes compute on the device of a run, or could by MPS, as far as it can tell.
class OtherProcesses {
 public:
  /// Throws Error(no_device) when there are some now, unless the device may be shared. The device
  /// must outlive it.
  OtherProcesses(worker::DeviceWorker& device, SharedDevice shared_device);

  /// Checks again: one may start after the run began.
  void look();
  [[nodiscard]] bool seen() const { return seen_; }

 private:
  worker::DeviceWorker& device_;
  bool seen_;
};

}  // namespace tuner::session
