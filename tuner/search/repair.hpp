// SPDX-License-Identifier: Apache-2.0
// Internal to search.
#pragma once

#include "tuner/space/space.hpp"

#include <cstdint>

namespace tuner::search {

/// How far two configurations are apart: the sum over the parameters of the steps between their
/// values.
[[nodiscard]] std::uint64_t steps_between(const space::Config& a, const space::Config& b);

/// A configuration of the space close to a wanted one: that one itself, else the one nearest to it
/// that differs from it in one parameter, else the nearest that can be reached from `from`, which
/// is in the space, one parameter at a time, every step going nearer.
[[nodiscard]] space::Config repaired(const space::Space& space, const space::Config& wanted,
                                     const space::Config& from);

}  // namespace tuner::search
