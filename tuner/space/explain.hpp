// SPDX-License-Identifier: Apache-2.0
// One configuration looked at closely: its values and what is wrong with it.
#pragma once

#include "tuner/space/bound_definition.hpp"

#include <optional>

namespace tuner::space {

/// `base` with the parameters and derived values of a configuration. Throws Error(usage) when a
/// derived value cannot be computed.
[[nodiscard]] ExpressionValues evaluate_values(const SpaceDefinition& definition,
                                               ExpressionValues base, const Config& config);

/// The first constraint that a configuration breaks, see BoundDefinition::violation.
[[nodiscard]] std::optional<Violation> find_violation(const SpaceDefinition& definition,
                                                      ExpressionValues base, const Config& config);

}  // namespace tuner::space
