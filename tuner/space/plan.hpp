// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/space/automaton.hpp"
#include "tuner/space/diagram.hpp"
#include "tuner/space/enumeration.hpp"
#include "tuner/space/term.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace tuner::space {

/// What to do when, to enumerate a component: the rules' work dealt out to the parameters in the
/// order in which they are bound.
///
/// While parameters are bound, a rule is in a state: that of its automaton when it is tabulated,
/// else whether it is known to hold. States have places, one for every parameter of every rule, so
/// that binding a parameter once more only overwrites what it wrote before.
struct Plan {
  /// The state of a condition that may turn out either way.
  static constexpr Automaton::State kUndecided = 2;

  /// Reading a parameter by a tabulated rule.
  struct Reading {
    const std::vector<Automaton::State>* transitions = nullptr;
    std::size_t from = 0;  ///< place of the state before
    std::size_t to = 0;
  };
  /// Looking at a condition of which only part is known.
  struct Forecast {
    std::size_t range = 0;  ///< place of what it may come out as
    std::size_t from = 0;
    std::size_t to = 0;
  };
  /// The range of a term that is not known yet. Ranges have places, one for each parameter that
  /// narrows a term, so that binding a parameter leaves alone what does not depend on it.
  struct Narrowing {
    struct Operand {
      bool is_known = false;
      std::size_t index = 0;  ///< a term whose value is known, else the place of a range
    };
    TermKind kind = TermKind::unary;
    Operation operation = Operation::constant;
    std::size_t count = 0;  ///< of the operands
    std::array<Operand, 3> operands{};
    std::size_t result = 0;  ///< a place
  };
  /// What a condition that is neither broken nor satisfied yet reads of the known values.
  struct Reads {
    std::size_t place = 0;  ///< of its state
    std::vector<TermId> values{};
  };
  struct Level {
    std::size_t parameter = 0;
    std::optional<TermId> term{};  ///< the parameter's, if any condition reads it
    /// The diagram that holds the parameter's choices, if they are known for a part of the rules.
    const Diagram* known = nullptr;
    std::vector<std::int64_t> numbers{};  ///< of its values
    std::vector<std::size_t> states{};    ///< of tabulated rules, which matter from here on
    std::vector<Reads> reads{};           ///< the same of the other rules
    std::vector<Reading> readings{};
    std::vector<Computation> computed{};  ///< becomes known here
    std::vector<TermId> decided{};        ///< conditions that are known here
    std::vector<Forecast> forecasts{};
    std::vector<Narrowing> narrowed{};  ///< what they are computed from, operands first
  };

  std::vector<std::size_t> order;  ///< of the parameters
  std::vector<Level> levels;
  std::vector<Automaton> automata;
  std::vector<Automaton::State> states;  ///< by place, before anything is bound
  std::vector<Rational> values;          ///< by term; those without parameters are known
  std::vector<Interval> ranges;     ///< by place, first those of the terms before anything is bound
  std::vector<std::size_t> depths;  ///< by term: after how many parameters it is known
};

[[nodiscard]] Plan make_plan(const Rules& rules, const Component& component);

/// A plan that follows the paths of `parts`, in the order of their parameters, and applies the
/// rules of `component`. The parts have the parameters of the component between them.
[[nodiscard]] Plan make_plan(const Rules& rules, const Component& component,
                             std::span<const Diagram* const> parts);

}  // namespace tuner::space
