// SPDX-License-Identifier: Apache-2.0
// What holds for every fill of a kind, a row for each kind.
#pragma once

#include "tuner/family/fill.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <string_view>

namespace tuner::family {

/// Where the numbers of a fill come from.
enum class Drawing {
  by_element,  ///< each check draws others; no element depends on another one
  together,    ///< each check draws others, which depend on each other
  none,        ///< they are the same in each check
};

struct FillTraits {
  FillKind kind;
  std::string_view word;  ///< in a space file, where a word is all of the fill; else empty
  Drawing drawing;
  /// Floating-point numbers may be changed a little, to measure how far the results then move.
  bool may_be_perturbed;
};

inline constexpr FillTraits kFills[] = {
    {FillKind::normal, "normal", Drawing::by_element, true},
    {FillKind::uniform, "uniform", Drawing::by_element, true},
    {FillKind::between, "", Drawing::by_element, true},
    {FillKind::positive, "positive", Drawing::by_element, true},
    {FillKind::permutation, "permutation", Drawing::together, false},
    {FillKind::sorted, "sorted", Drawing::together, true},
    {FillKind::integers, "", Drawing::by_element, false},
    {FillKind::constant, "", Drawing::none, false},
    {FillKind::values, "", Drawing::none, false},
    {FillKind::csr_offsets, "", Drawing::together, false},
    {FillKind::copy, "", Drawing::none, false},  // looked at with the argument that is copied
    {FillKind::npy, "", Drawing::none, true},
};

static_assert(std::size(kFills) == static_cast<std::size_t>(FillKind::npy) + 1,
              "a kind has no row");

constexpr const FillTraits& traits(FillKind kind) {
  return *std::ranges::find(kFills, kind, &FillTraits::kind);
}

}  // namespace tuner::family
