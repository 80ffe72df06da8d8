// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/space/diagram.hpp"
#include "tuner/space/rules.hpp"

#include <cstdint>
#include <span>
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

/// A component divided: what its rules that read no extents tie together, and its other rules.
struct DividedComponent {
  std::vector<Component> parts;
  Component rest;  ///< all of the parameters
};
[[nodiscard]] DividedComponent divided(const Component& component);

/// How much enumerating may cost.
struct EnumerationLimits {
  /// Choices tried, each with all that is computed of it: a few seconds.
  std::uint64_t operations = std::uint64_t{1} << 27;
  std::size_t edges = std::size_t{1} << 25;  ///< kept for one component, of 16 bytes each
};

/// The valid partial configurations of a component; what it cost is subtracted from the limits'
/// operations. Throws Error(usage) beyond the limits.
[[nodiscard]] Diagram enumerate(const Rules& rules, const Component& component,
                                EnumerationLimits& limits);

/// The valid combinations of `component` among the paths of `parts`, one part after the other. The
/// parts have the parameters of the component between them.
[[nodiscard]] Diagram narrowed(const Rules& rules, const Component& component,
                               std::span<const Diagram* const> parts, EnumerationLimits& limits);

}  // namespace tuner::space
