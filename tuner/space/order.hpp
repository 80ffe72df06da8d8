// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/space/enumeration.hpp"
#include "tuner/space/term.hpp"

#include <cstddef>
#include <span>
#include <vector>

namespace tuner::space {

/// The order in which to bind the parameters of a component so that enumeration does little work:
/// rules that reject much are decided early, and few values have to be remembered at a time, so
/// that many partial configurations share what follows. `conditions` are those of the rules that
/// are not tabulated.
[[nodiscard]] std::vector<std::size_t> binding_order(const Component& component, const Terms& terms,
                                                     std::span<const TermId> conditions);

}  // namespace tuner::space
