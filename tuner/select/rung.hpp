// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace tuner {

/// The kind of an answer to a requested size.
enum class Rung {
  exact,           ///< tuned for this size on this device
  stale,           ///< the same, but with another driver or compiler than the one in use
  nearest,         ///< tuned for another size on this device; valid for this one
  library_tuned,   ///< the platform's BLAS by its fastest algorithm, which was tuned for this size
  library,         ///< the platform's BLAS
  default_config,  ///< never tuned here: the kernel's default configuration
};

/// "exact", "stale", "nearest", "library_tuned", "library", "default".
[[nodiscard]] constexpr std::string_view name(Rung rung) {
  switch (rung) {
    case Rung::exact:
      return "exact";
    case Rung::stale:
      return "stale";
    case Rung::nearest:
      return "nearest";
    case Rung::library_tuned:
      return "library_tuned";
    case Rung::library:
      return "library";
    case Rung::default_config:
      return "default";
  }
  return "unknown";
}

}  // namespace tuner
