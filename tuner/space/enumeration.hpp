// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/space/rules.hpp"
#include "tuner/space/tree.hpp"

#include <cstdint>
#include <vector>

namespace tuner {

/// Parameters that rules tie together, and those rules.
struct Component {
  ParameterSet parameters = 0;
  std::vector<const Rule*> rules;

  auto operator<=>(const Component&) const = default;
};

/// The components under the rules of stages up to `last_stage`: every parameter is in exactly one.
/// Rules without parameters belong to none.
[[nodiscard]] std::vector<Component> components(const Rules& rules, std::size_t last_stage);

/// The valid partial configurations of a component. Throws Error(usage) when there are more than
/// 2^26, or when finding them takes more than 2^32 steps.
[[nodiscard]] Tree list(const Rules& rules, const Component& component);

/// How many there are, without keeping them. Throws as `list` does.
[[nodiscard]] std::uint64_t count(const Rules& rules, const Component& component);

}  // namespace tuner
