// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/core/element_type.hpp"
#include "tuner/family/fill.hpp"

#include <optional>
#include <string_view>
#include <vector>

namespace tuner::family {

/// A distribution other than the ordinary one of a fill, from which the inputs of some checks are
/// drawn. docs/reference/verification.md says what each makes of each kind of fill.
enum class Law {
  zeros,       ///< a quarter is 0 or −0; indices: half are the least; rows: half are empty
  magnitudes,  ///< runs of elements scaled by powers of ten; indices and rows: skewed
  offsets,     ///< runs of elements moved by a power of ten; indices near both ends
  outliers,    ///< a few elements are far larger; indices: nearly all are the same
  equal,       ///< all elements are the same
  negative,    ///< all elements are negative, of other depth in each run; indices descend
  small,       ///< tiny numbers, some subnormal; indices: each names the element before it
  wide,        ///< magnitudes of the whole range; integers and indices at the ends of theirs
  shared,      ///< half of the elements are those of another input
  runs,        ///< the same number many times in succession
};

/// All laws, in the order of the enumeration.
[[nodiscard]] const std::vector<Law>& all_laws();
[[nodiscard]] std::string_view name(Law law);
[[nodiscard]] std::optional<Law> law(std::string_view name);

/// The laws by which the elements of a buffer or array can be drawn: none of a fill that says what
/// they are, and none that the fill excludes. `continuous`: not those that make elements equal.
[[nodiscard]] std::vector<Law> laws_of(const InputFill& fill, ElementType type, bool continuous);

}  // namespace tuner::family
