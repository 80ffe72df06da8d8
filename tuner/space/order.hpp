// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/space/rules.hpp"

#include <cstddef>
#include <vector>

namespace tuner {

/// The order in which to bind the parameters of a group so that enumeration does little work: rules
/// that reject much are complete early, parameters that no open rule waits for come late.
[[nodiscard]] std::vector<std::size_t> binding_order(const SpaceDefinition& definition,
                                                     const std::vector<const Rule*>& rules,
                                                     ParameterSet group);

}  // namespace tuner
