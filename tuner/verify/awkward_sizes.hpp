// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/family/family.hpp"

#include <vector>

namespace tuner {

/// The sizes, besides the tuned one, at which a configuration must be right, each once: those of
/// the space file and those that the kernel derives from the configuration, as far as the kernel's
/// constraints allow them. A family that lists none gets sizes of our own when its reference is a
/// library operation, which is defined at every size: 1 in every dimension, primes, and in each
/// dimension in turn 1 and a size many times the others.
[[nodiscard]] std::vector<Size> awkward_sizes(const Family& family, const Kernel& kernel,
                                              const Space& space, const Config& config);

}  // namespace tuner
