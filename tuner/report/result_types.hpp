// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/family/family.hpp"

#include <string>
#include <string_view>

namespace tuner::report {

/// Which element type the results of a kernel are of.
struct ResultTypes {
  std::string dimension = {};  ///< whose value in a size is the type; empty: all sizes have `usual`
  std::string usual = {};      ///< where a size names none: "f32"; empty: not known

  [[nodiscard]] bool known() const { return !dimension.empty() || !usual.empty(); }
  /// The type at a canonical size: "4096,4096,4096,TYPE=bf16" → "bf16". Where nothing is known, a
  /// dimension TYPE tells it, as in the included families.
  [[nodiscard]] std::string at(std::string_view problem) const;
};
/// By the family's dimension of types or, without one, of the first buffer that a kernel writes.
[[nodiscard]] ResultTypes result_types(const family::Family& family);

}  // namespace tuner::report
