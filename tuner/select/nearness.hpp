// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/space/size.hpp"

#include <compare>
#include <optional>

namespace tuner::select {

/// How far one size is from another: per dimension |ln(a / b)|, so that twice and half are equally
/// far and the shape counts, not the volume. A dimension that is its default in both, such as a
/// leading dimension that follows from the shape, does not count. The nearer of two compares less:
/// by the dimension that differs most, then by all of them, then the smaller size.
struct Nearness {
  double largest = 0;  ///< L∞ norm
  double total = 0;    ///< L2 norm
  double volume = 0;   ///< of the dimensions that every size names
  space::Size size;

  auto operator<=>(const Nearness&) const = default;
};

/// None when the sizes are of different kinds.
[[nodiscard]] std::optional<Nearness> nearness(const space::Size& asked, space::Size size,
                                               const space::Dimensions& dims);

}  // namespace tuner::select
