// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/family/family.hpp"
#include "tuner/session/sweep.hpp"

#include <string>

namespace tuner::cli {

/// "mapped": all buffers of the family; "A=mapped,B=pinned": these, the others pageable. Throws
/// Error(usage), with a suggestion, for what is neither.
[[nodiscard]] session::Placement parse_placement(const std::string& text,
                                                 const family::Family& family);

}  // namespace tuner::cli
