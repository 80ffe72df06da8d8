// SPDX-License-Identifier: Apache-2.0
// Sizes, configurations and times as a catalogue keeps them.
#pragma once

#include "tuner/core/outcome.hpp"
#include "tuner/space/size.hpp"
#include "tuner/space/space.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace tuner::select {

/// A size of a question or of a result, in a kernel's dimensions.
struct KnownSize {
  std::string text;     ///< canonical
  space::Size numbers;  ///< empty where the kernel came without its space file
};

/// How long a configuration took at one size.
struct Timing {
  std::size_t size = 0;  ///< among the kernel's sizes
  double ns = 0;         ///< back to back with others, as in an application
  int registers = 0;     ///< of a thread; 0 if unknown
  double cold_ns = 0;    ///< of single launches from a cold cache; 0 if unknown
  /// Of a portfolio's member with such a time: launch_imbalance.
  double imbalance = 0;
};

/// A trial that ended without a time.
struct FailedTrial {
  std::string size;  ///< canonical
  Outcome outcome = Outcome::crashed;
};

/// A configuration of a kernel that was best at some size, or was timed at many.
struct KnownConfig {
  std::string json;                          ///< canonical
  std::optional<space::Config> config = {};  ///< absent where the space does not have it
  std::string refusal = {};                  ///< why it is absent; else empty
  std::vector<Timing> timings = {};          ///< at most one for a size
  bool verified = false;                     ///< proved right on this machine, at some size
  /// What it was found to do wrong, and where; else empty. It then answers only for sizes at which
  /// it was the best.
  std::string refutation = {};
  /// Where its last trial did not run to its end. It does not answer for these sizes.
  std::vector<FailedTrial> failed = {};
};

}  // namespace tuner::select
