// SPDX-License-Identifier: Apache-2.0
// What the report reads of stored texts that another program may have written.
#pragma once

#include "tuner/core/json.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace tuner::report {

/// An object; an empty one when the text is not JSON of an object.
[[nodiscard]] Json tolerant_object(std::string_view text);
/// A member of an object; null when there is none, or when it is no object.
[[nodiscard]] const Json* member(const Json& object, const std::string& key);

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
[[nodiscard]] ResultTypes result_types(std::string_view space_text);

/// The names of a kernel's parameters as its space file orders them.
[[nodiscard]] std::vector<std::string> parameters_of_space(std::string_view space_text,
                                                           const std::string& kernel);

}  // namespace tuner::report
