// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/space/dimensions.hpp"

#include <cstddef>
#include <span>
#include <vector>

namespace tuner::select {

/// Sizes between given ones, at least one, the same for the same arguments. What every size names
/// is drawn logarithmically and independently between the least and the greatest of the given
/// values, in the multiples that all of these are, up to 64. Kinds of problem are those of one of
/// the given sizes, all other numbers the defaults. Sizes that the dimensions refuse are left out,
/// so there may be fewer than `count`.
[[nodiscard]] std::vector<space::Size> drawn_sizes(const space::Dimensions& dims,
                                                   std::span<const space::Size> given,
                                                   std::size_t count);

}  // namespace tuner::select
