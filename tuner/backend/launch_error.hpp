// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/core/expected.hpp"
#include "tuner/core/outcome.hpp"

#include <string>
#include <utility>

namespace tuner::backend {

/// A launch that the device refuses.
[[nodiscard]] inline Unexpected<Failure> launch_error(std::string message) {
  return Unexpected(Failure{Outcome::launch_error, std::move(message)});
}

}  // namespace tuner::backend
