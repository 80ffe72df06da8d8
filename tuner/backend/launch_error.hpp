// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/core/expected.hpp"
#include "tuner/core/outcome.hpp"

#include <cstddef>
#include <string>
#include <utility>

namespace tuner::backend {

/// A launch that the device refuses.
[[nodiscard]] inline Unexpected<Failure> launch_error(std::string message) {
  return Unexpected(Failure{Outcome::launch_error, std::move(message)});
}

/// A failure of one of a kernel's `steps` steps; the message names it if there are several.
[[nodiscard]] inline Failure in_step(Failure failure, std::size_t step, std::size_t steps) {
  if (steps > 1) failure.message = "steps[" + std::to_string(step) + "]: " + failure.message;
  return failure;
}

/// The failure of a kernel whose numbers of launches and of functions differ.
[[nodiscard]] inline Failure other_steps(std::size_t launches, std::size_t functions) {
  return {Outcome::launch_error, std::to_string(launches) + " launches of a kernel with " +
                                     std::to_string(functions) + " functions"};
}

}  // namespace tuner::backend
