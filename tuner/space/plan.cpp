// SPDX-License-Identifier: Apache-2.0
#include "tuner/space/plan.hpp"

#include "tuner/space/order.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace tuner::space {
namespace {

/// Rewrites terms for an order: sums and products become pairs that join what is known first.
class Lowering {
 public:
  Lowering(const Terms& from, Terms& to, const std::vector<std::size_t>& order)
      : from_(from), to_(to), depth_of_(from.definition().parameters.size()) {
    for (std::size_t i = 0; i < order.size(); ++i) depth_of_[order[i]] = i + 1;
  }

  TermId lower(TermId id) {
    if (const auto known = lowered_.find(id); known != lowered_.end()) return known->second;
    Term term = from_[id];
    for (TermId& operand : term.operands) operand = lower(operand);
    TermId result = 0;
    if (term.kind == TermKind::sum || term.kind == TermKind::product) {
      result = chain(std::move(term));
    } else {
      result = add(std::move(term));
    }
    lowered_.emplace(id, result);
    return result;
  }

  /// After how many parameters each term is known.
  std::vector<std::size_t> depths() && { return std::move(depths_); }

 private:
  TermId chain(Term term) {
    std::ranges::sort(term.operands, {},
                      [&](TermId operand) { return std::pair(depths_[operand], operand); });
    TermId result = term.operands.front();
    for (std::size_t i = 1; i < term.operands.size(); ++i) {
      result = add({.kind = TermKind::binary,
                    .operation = term.operation,
                    .operands = {result, term.operands[i]}});
    }
    return result;
  }

  TermId add(Term term) {
    std::size_t depth = 0;
    if (term.kind == TermKind::parameter) depth = depth_of_[static_cast<std::size_t>(term.number)];
    for (const TermId operand : term.operands) depth = std::max(depth, depths_[operand]);
    const TermId result = to_.add(std::move(term));
    if (result == depths_.size()) {
      depths_.push_back(to_[result].kind == TermKind::constant ? 0 : depth);
    }
    return result;
  }

  const Terms& from_;
  Terms& to_;
  std::vector<std::size_t> depth_of_;  // of the parameters
  std::vector<std::size_t> depths_;    // of the new terms
  std::map<TermId, TermId> lowered_;
};

Computation computation(const Terms& terms, TermId id) {
  Computation result{.kind = terms[id].kind, .operation = terms[id].operation, .result = id};
  std::ranges::copy(terms[id].operands, result.operands.begin());
  return result;
}

bool is_computed(const Term& term) {
  return term.kind != TermKind::constant && term.kind != TermKind::parameter;
}

class Planner {
 public:
  Planner(const Rules& rules, const Component& component, std::span<const Diagram* const> parts)
      : rules_(rules), component_(component), parts_(parts), terms_(rules.definition()) {}

  Plan run() {
    const std::vector<TermId> conditions = order_parameters();
    make_levels();
    follow_parts();
    for (const Rule* rule : component_.rules) {
      if (!rule->table.empty()) deal_out_table(*rule);
    }
    for (const TermId condition : conditions) deal_out(condition);
    return std::move(plan_);
  }

 private:
  /// Fixes the order and returns the conditions in terms that fit it.
  std::vector<TermId> order_parameters() {
    Terms all(rules_.definition());
    std::vector<TermId> result;
    for (const Rule* rule : component_.rules) {
      if (!rule->table.empty()) continue;
      for (const TermId condition : conditions(all, rules_, *rule)) {
        result.push_back(condition);
      }
    }
    // Terms that only some sizes have must not influence the order: sizes share diagrams.
    const Terms gathered = needed(all, result);
    if (parts_.empty()) plan_.order = binding_order(component_, gathered, result);
    for (const Diagram* part : parts_) {
      plan_.order.insert(plan_.order.end(), part->parameters().begin(), part->parameters().end());
    }
    Lowering lowering(gathered, terms_, plan_.order);
    for (TermId& condition : result) condition = lowering.lower(condition);
    plan_.depths = std::move(lowering).depths();
    return result;
  }

  void make_levels() {
    for (const std::size_t index : plan_.order) {
      Plan::Level level{.parameter = index};
      for (const ParameterValue& value : rules_.definition().parameters[index].values) {
        level.numbers.push_back(value.number);
      }
      plan_.levels.push_back(std::move(level));
    }
    plan_.values.assign(terms_.size(), kFaulty);
    for (TermId id = 0; id < terms_.size(); ++id) {
      const Term& term = terms_[id];
      plan_.ranges.push_back(terms_.facts(id).range);
      const std::size_t depth = plan_.depths[id];
      if (term.kind == TermKind::constant) {
        plan_.values[id] = {term.number, 1};
      } else if (term.kind == TermKind::parameter) {
        plan_.levels[depth - 1].term = id;
      } else if (depth == 0) {
        plan_.values[id] = evaluate(computation(terms_, id), plan_.values);
      } else {
        plan_.levels[depth - 1].computed.push_back(computation(terms_, id));
      }
    }
  }

  void follow_parts() {
    auto level = plan_.levels.begin();
    for (const Diagram* part : parts_) {
      for (std::size_t i = 0; i < part->parameters().size(); ++i) level++->known = part;
    }
  }

  std::size_t add_place(Automaton::State state) {
    plan_.states.push_back(state);
    return plan_.states.size() - 1;
  }

  void deal_out_table(const Rule& rule) {
    std::vector<std::size_t> depths;
    std::vector<std::size_t> order;
    for (std::size_t depth = 0; depth < plan_.order.size(); ++depth) {
      if ((rule.parameters & parameter_bit(plan_.order[depth])) == 0) continue;
      depths.push_back(depth);
      order.push_back(plan_.order[depth]);
    }
    plan_.automata.emplace_back(rule, rules_.definition(), order);
    const Automaton& automaton = plan_.automata.back();
    std::size_t place = add_place(automaton.start());
    for (std::size_t i = 0; i < depths.size(); ++i) {
      const std::size_t next = add_place(Automaton::kBroken);
      plan_.levels[depths[i]].readings.push_back({&automaton.transitions(i), place, next});
      place = next;
      if (i + 1 == depths.size()) break;
      for (std::size_t depth = depths[i] + 1; depth <= depths[i + 1]; ++depth) {
        plan_.levels[depth].states.push_back(place);
      }
    }
  }

  void deal_out(TermId condition) {
    const ParameterSet parameters = terms_.facts(condition).parameters;
    if (parameters == 0) {  // such as an operand that cannot be computed
      plan_.levels.front().decided.push_back(condition);
      return;
    }
    const std::size_t last = plan_.depths[condition] - 1;
    plan_.levels[last].decided.push_back(condition);
    std::optional<std::size_t> place;
    for (std::size_t depth = 0; depth < last; ++depth) {
      if ((parameters & parameter_bit(plan_.order[depth])) != 0) {
        const std::size_t from = place ? *place : add_place(Plan::kUndecided);
        place = add_place(Plan::kUndecided);
        plan_.levels[depth].forecasts.push_back({range_place(condition, depth), from, *place});
        narrow(condition, depth);
      }
      if (place) {
        plan_.levels[depth + 1].reads.push_back({*place, {}});
        collect_known(condition, depth + 1, plan_.levels[depth + 1].reads.back().values);
      }
    }
  }

  /// Where the range of a term is once the parameter of a level is bound: the last one that the
  /// term depends on has narrowed it.
  std::size_t range_place(TermId id, std::size_t level) {
    for (std::size_t at = level + 1; at-- > 0;) {
      if (!depends_on(id, at)) continue;
      const auto [known, added] = range_places_.try_emplace({id, at}, plan_.ranges.size());
      if (added) plan_.ranges.push_back(terms_.facts(id).range);
      return known->second;
    }
    return id;
  }

  bool depends_on(TermId id, std::size_t level) const {
    return (terms_.facts(id).parameters & parameter_bit(plan_.order[level])) != 0;
  }

  /// Has a level narrow the terms of a condition that depend on its parameter. The condition was
  /// forecast at each level before that binds one of its parameters, so that the other ranges are
  /// there.
  void narrow(TermId id, std::size_t level) {
    if (plan_.depths[id] <= level + 1 || !is_computed(terms_[id]) || !depends_on(id, level)) return;
    std::vector<Plan::Narrowing>& narrowed = plan_.levels[level].narrowed;
    const std::size_t result = range_place(id, level);
    if (std::ranges::find(narrowed, result, &Plan::Narrowing::result) != narrowed.end()) return;
    const Term& term = terms_[id];
    Plan::Narrowing narrowing{.kind = term.kind,
                              .operation = term.operation,
                              .count = term.operands.size(),
                              .operands = {},
                              .result = result};
    for (std::size_t i = 0; i < term.operands.size(); ++i) {
      const TermId operand = term.operands[i];
      narrow(operand, level);
      const bool is_known = plan_.depths[operand] <= level + 1;
      narrowing.operands[i] = {is_known, is_known ? operand : range_place(operand, level)};
    }
    narrowed.push_back(narrowing);
  }

  void collect_known(TermId id, std::size_t depth, std::vector<TermId>& known) const {
    if (plan_.depths[id] > depth) {
      for (const TermId operand : terms_[id].operands) collect_known(operand, depth, known);
    } else if (plan_.depths[id] > 0 && std::ranges::find(known, id) == known.end()) {
      known.push_back(id);
    }
  }

  const Rules& rules_;
  const Component& component_;
  std::span<const Diagram* const> parts_;
  Terms terms_;
  Plan plan_;
  std::map<std::pair<TermId, std::size_t>, std::size_t> range_places_;  // by term and level
};

}  // namespace

Plan make_plan(const Rules& rules, const Component& component) {
  return Planner(rules, component, {}).run();
}

Plan make_plan(const Rules& rules, const Component& component,
               std::span<const Diagram* const> parts) {
  return Planner(rules, component, parts).run();
}

}  // namespace tuner::space
