// SPDX-License-Identifier: Apache-2.0
// Module family: the definition of a kernel, read from a space file: arguments, geometry,
// reference, checks, and what a configuration compiles to and launches.
#pragma once

#include "tuner/family/family.hpp"

#include <cstddef>
#include <vector>

namespace tuner::family {

/// The sizes, besides the tuned one, at which a configuration must be right.
struct AwkwardSizes {
  std::vector<space::Size> sizes;  ///< each once
  /// How many were left out since the configuration compiles to other code there than at the tuned
  /// size: what is right or wrong there says nothing of this code.
  std::size_t of_other_code = 0;
  /// How many were left out since they are no size of the problem or a constraint refuses them.
  std::size_t refused = 0;
};

/// The sizes of the space file and those that the kernel derives from the configuration, as far as
/// the kernel's constraints allow them and the code is that of the tuned size. A family that lists
/// none gets sizes of our own when its reference is a library operation, which is defined at every
/// size: 1 in every dimension, primes, and in each dimension in turn 1 and a size many times the
/// others; dimensions with a default keep to it, kinds to those of the tuned size.
[[nodiscard]] AwkwardSizes awkward_sizes(const Family& family, const Kernel& kernel,
                                         const space::BoundDefinition& space,
                                         const space::Config& config, const space::Size& tuned);

/// The check sizes that the family states beside a tuned one, each once, without those that the
/// problem forbids.
[[nodiscard]] std::vector<space::Size> family_check_sizes(const Family& family,
                                                          const space::Size& tuned);

}  // namespace tuner::family
