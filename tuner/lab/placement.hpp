// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/family/family.hpp"
#include "tuner/lab/sweep.hpp"

#include <string>

namespace tuner::lab {

/// "mapped": all buffers of the family; "A=mapped,B=pinned": these, the others pageable. Throws
/// Error(usage), with a suggestion, for what is neither.
[[nodiscard]] Placement parse_placement(const std::string& text, const family::Family& family);

}  // namespace tuner::lab
