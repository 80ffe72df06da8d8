// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/session/session.hpp"
#include "tuner/worker/device_worker.hpp"

namespace tuner::session {

/// Whether other processes compute on the device of a session, as far as it can tell.
class OtherProcesses {
 public:
  /// The device must outlive it.
  explicit OtherProcesses(worker::DeviceWorker& device) : device_(device) {}

  /// Looks before the session begins. Throws Error(no_device) when there are some, unless the
  /// device may be shared.
  void refuse(SharedDevice shared_device);
  /// Looks again: one may come after the session began.
  void look() { seen_ = seen_ || !device_.other_processes().empty(); }
  [[nodiscard]] bool seen() const { return seen_; }

 private:
  worker::DeviceWorker& device_;
  bool seen_ = false;
};

}  // namespace tuner::session
