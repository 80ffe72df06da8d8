// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/session/session.hpp"

#include <functional>
#include <vector>

namespace tuner::cli {

/// Cards of one model with one environment: a run is on these.
struct ModelCards {
  worker::DeviceWorker* device;  ///< one of them, for what it is
  /// Those that can be used at this moment. Throws Error(no_device) when there are none.
  std::function<std::vector<session::Card>()> cards;
  session::NewCards joining = {};  ///< as tune_kernel takes it
};

}  // namespace tuner::cli
