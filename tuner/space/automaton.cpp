// SPDX-License-Identifier: Apache-2.0
#include "tuner/space/automaton.hpp"

#include "tuner/space/hash_index.hpp"

#include <algorithm>
#include <utility>

namespace tuner::space {
namespace {

/// The table of a rule with the parameters in `order`, the first one varying slowest.
std::vector<Automaton::State> ordered_table(const Rule& rule, const SpaceDefinition& definition,
                                            std::span<const std::size_t> order) {
  std::vector<Automaton::State> table(rule.table.size());
  std::vector<std::size_t> choices(order.size());
  std::size_t place = 0;
  const std::size_t stride = rule.strides[order.back()];
  const std::size_t width = definition.parameters[order.back()].values.size();
  for (auto entry = table.begin(); entry != table.end();) {
    for (std::size_t c = 0; c < width; ++c) {
      *entry++ = rule.table[place + c * stride] != 0 ? Automaton::kSatisfied : Automaton::kBroken;
    }
    for (std::size_t i = order.size() - 1; i-- > 0;) {
      place += rule.strides[order[i]];
      if (++choices[i] < definition.parameters[order[i]].values.size()) break;
      place -= choices[i] * rule.strides[order[i]];
      choices[i] = 0;
    }
  }
  return table;
}

/// The states of one point: each is a row of the states that its choices lead to.
class Rows {
 public:
  explicit Rows(std::size_t width) : width_(width), rows_(2 * width, Automaton::kBroken) {
    std::fill(rows_.begin() + static_cast<std::ptrdiff_t>(width), rows_.end(),
              Automaton::kSatisfied);
    index_.insert(hash(row(Automaton::kBroken)), Automaton::kBroken);
    index_.insert(hash(row(Automaton::kSatisfied)), Automaton::kSatisfied);
  }

  Automaton::State add(std::span<const Automaton::State> wanted) {
    const std::uint64_t key = hash(wanted);
    const auto known = index_.find(
        key, [&](std::uint32_t state) { return std::ranges::equal(row(state), wanted); });
    if (known) return static_cast<Automaton::State>(*known);
    const auto state = static_cast<Automaton::State>(rows_.size() / width_);
    rows_.insert(rows_.end(), wanted.begin(), wanted.end());
    index_.insert(key, state);
    return state;
  }
  std::vector<Automaton::State> take() && { return std::move(rows_); }

 private:
  std::span<const Automaton::State> row(std::size_t state) const {
    return std::span(rows_).subspan(state * width_, width_);
  }
  static std::uint64_t hash(std::span<const Automaton::State> row) {
    std::uint64_t result = 0;
    for (const Automaton::State state : row) result = mixed(result, state);
    return result;
  }

  std::size_t width_;
  std::vector<Automaton::State> rows_;
  HashIndex index_;
};

}  // namespace

Automaton::Automaton(const Rule& rule, const SpaceDefinition& definition,
                     std::span<const std::size_t> order)
    : transitions_(order.size()) {
  // From the last parameter to the first: the states after it are known, those before it follow.
  std::vector<State> after = ordered_table(rule, definition, order);
  for (std::size_t i = order.size(); i-- > 0;) {
    const std::size_t width = definition.parameters[order[i]].values.size();
    Rows rows(width);
    std::vector<State> before;
    for (std::span<const State> rest(after); !rest.empty(); rest = rest.subspan(width)) {
      before.push_back(rows.add(rest.first(width)));
    }
    transitions_[i] = std::move(rows).take();
    after = std::move(before);
  }
  start_ = after.front();
}

std::size_t class_count(const Rule& rule, const SpaceDefinition& definition, ParameterSet some) {
  std::vector<std::size_t> order;
  std::size_t combinations = 1;
  for (const ParameterSet wanted : {some, ~some}) {
    for (std::size_t i = 0; i < definition.parameters.size(); ++i) {
      if ((rule.parameters & wanted & parameter_bit(i)) == 0) continue;
      order.push_back(i);
      if (wanted == some) combinations *= definition.parameters[i].values.size();
    }
  }
  const std::vector<Automaton::State> table = ordered_table(rule, definition, order);
  const std::size_t width = table.size() / combinations;
  Rows rows(width);
  std::vector<bool> seen(combinations + 2);
  std::size_t count = 0;
  for (std::span<const Automaton::State> rest(table); !rest.empty(); rest = rest.subspan(width)) {
    const Automaton::State state = rows.add(rest.first(width));
    if (state == Automaton::kBroken || seen[state]) continue;
    seen[state] = true;
    ++count;
  }
  return std::max<std::size_t>(count, 1);
}

}  // namespace tuner::space
