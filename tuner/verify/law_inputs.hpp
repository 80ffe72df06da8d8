// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/family/law.hpp"
#include "tuner/verify/check_kernels.hpp"

#include <cstdint>

namespace tuner::verify {

/// A law and how far it goes, from 0, the farthest: where a reference gives no finite result, or
/// none that means anything, the next one is tried.
struct LawLevel {
  family::Law law;
  int level = 0;
  auto operator<=>(const LawLevel&) const = default;
};

/// Ascending numbers that a fill draws end here, and begin at −end where their type has signs.
[[nodiscard]] double sorted_end(family::ElementType type);

/// The levels that a law has.
[[nodiscard]] int levels_of(family::Law law);

/// What the numbers of a buffer are, and which others may stand for them.
struct LawInputs {
  family::FillKind kind = family::FillKind::normal;
  std::int64_t low = 0, high = 0;  ///< of integers: the least and the greatest, as 64 bits
  double least = 0, most = 0;      ///< of floating-point numbers in an interval, or sorted ones
  double largest = 0;              ///< that a floating-point number may be
};

/// Changes numbers that their fill gave to those of the law; it must be one of laws_of the fill and
/// not `shared`.
void apply_law(CheckKernels& kernels, const CheckKernels::Elements& data, const LawLevel& law,
               const LawInputs& inputs, std::uint64_t seed);

}  // namespace tuner::verify
