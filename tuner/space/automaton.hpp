// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/space/rules.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace tuner::space {

/// A tabulated rule that reads one parameter after the other. Its state is all it remembers: two
/// combinations of what was read lead to the same state exactly if what may follow is the same.
class Automaton {
 public:
  using State = std::uint16_t;

  /// No way to satisfy the rule is left, or no way to break it. These are states at every point.
  static constexpr State kBroken = 0;
  static constexpr State kSatisfied = 1;

  /// `order`: the rule's parameters in the order in which they are read.
  Automaton(const Rule& rule, const SpaceDefinition& definition,
            std::span<const std::size_t> order);

  /// Before anything is read.
  [[nodiscard]] State start() const { return start_; }
  /// The states after reading parameter number `index`: of state s and choice c at
  /// s × values + c.
  [[nodiscard]] const std::vector<State>& transitions(std::size_t index) const {
    return transitions_[index];
  }

 private:
  State start_ = kBroken;
  std::vector<std::vector<State>> transitions_;  // by parameter
};

/// Into how many classes the combinations of some of a tabulated rule's parameters fall, when those
/// that leave the same choices to the others are one class.
[[nodiscard]] std::size_t class_count(const Rule& rule, const SpaceDefinition& definition,
                                      ParameterSet some);

}  // namespace tuner::space
