// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/backend/backend.hpp"

#include <cstdint>
#include <vector>

namespace tuner::measure {

/// Prepares launches that are timed, and looks at what some of them left, which no kernel can
/// foresee. Every method but the first fails where a launch was wrong; the kernel is then at fault.
class LaunchAudit {
 public:
  virtual ~LaunchAudit() = default;

  /// Before a launch that is timed alone: the work that the device does before it, outside of its
  /// time.
  [[nodiscard]] virtual backend::Work before_launch() = 0;
  [[nodiscard]] virtual Expected<void, Failure> after_launch() = 0;

  /// Before a series back to back: the pieces of work through which it goes in turn.
  [[nodiscard]] virtual std::vector<backend::Work> before_series() = 0;
  /// After so many runs of the works that before_series returned last.
  [[nodiscard]] virtual Expected<void, Failure> after_series(std::int64_t runs) = 0;

  /// Before one piece of work is repeated back to back.
  virtual void before_repetition() = 0;
  [[nodiscard]] virtual Expected<void, Failure> after_repetition() = 0;
};

}  // namespace tuner::measure
