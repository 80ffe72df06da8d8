// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/space/diagram.hpp"
#include "tuner/space/rules.hpp"

#include <cstdint>
#include <vector>

namespace tuner::space {

/// Parameters that rules tie together, and those rules.
struct Component {
  ParameterSet parameters = 0;
  std::vector<const Rule*> rules;

  auto operator<=>(const Component&) const = default;
};

/// The components under the rules of stages up to `last_stage`: every parameter is in exactly one.
/// Rules without parameters belong to none.
[[nodiscard]] std::vector<Component> components(const Rules& rules, std::size_t last_stage);

/// How much enumerating one component may cost.
struct EnumerationLimits {
  std::uint64_t steps = std::uint64_t{1} << 30;  ///< choices tried: half a minute
  std::size_t edges = std::size_t{1} << 25;      ///< kept, of 16 bytes each
};

/// The valid partial configurations of a component. Throws Error(usage) beyond the limits.
[[nodiscard]] Diagram enumerate(const Rules& rules, const Component& component,
                                const EnumerationLimits& limits = {});

}  // namespace tuner::space
