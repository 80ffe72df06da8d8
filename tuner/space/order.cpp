// SPDX-License-Identifier: Apache-2.0
#include "tuner/space/order.hpp"

#include "tuner/space/automaton.hpp"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>

namespace tuner::space {
namespace {

/// Work of reading a table and of computing what a condition needs, in units of visiting a choice.
constexpr double kReading = 0.5;
constexpr double kComputing = 6;

/// Predicts the work of an order, taking the rules for independent of each other.
class Model {
 public:
  Model(const Component& component, const Terms& terms, std::span<const TermId> conditions)
      : component_(component), terms_(terms), conditions_(conditions) {}

  double work(const std::vector<std::size_t>& order) {
    double states = 1;
    double total = 0;
    ParameterSet bound = 0;
    for (const std::size_t parameter : order) {
      const ParameterSet bit = parameter_bit(parameter);
      bound |= bit;
      states *= static_cast<double>(terms_.definition().parameters[parameter].values.size());
      double each = 1;
      double kept = 1;
      for (const Rule* rule : component_.rules) {
        if ((rule->parameters & bit) == 0) continue;
        each += rule->table.empty() ? kComputing : kReading;
        if ((rule->parameters & ~bound) == 0) kept *= rule->selectivity;
      }
      total += states * each;
      states = std::min(states * kept, remembered(bound));
    }
    return total;
  }

 private:
  /// An estimate of the number of states that matter to what follows.
  double remembered(ParameterSet bound) {
    const auto [known, added] = remembered_.try_emplace(bound, 1);
    if (!added) return known->second;
    double product = 1;
    for (const Rule* rule : component_.rules) {
      if (!rule->table.empty()) product *= classes(*rule, bound & rule->parameters);
    }
    std::map<std::pair<TermId, ParameterSet>, double> values;  // each counts once
    for (const TermId condition : conditions_) {
      const bool open = (terms_.facts(condition).parameters & ~bound) != 0;
      if (open) collect(condition, bound, values);
    }
    for (const auto& [term, count] : values) product *= count;
    known->second = product;
    return product;
  }

  double classes(const Rule& rule, ParameterSet some) {
    if (some == 0 || some == rule.parameters) return 1;
    const auto [known, added] = classes_.try_emplace({&rule, some}, 1);
    if (added) {
      known->second = static_cast<double>(class_count(rule, terms_.definition(), some));
    }
    return known->second;
  }

  /// What an undecided condition reads of the known values, with the number of each one's values.
  void collect(TermId id, ParameterSet bound,
               std::map<std::pair<TermId, ParameterSet>, double>& values) const {
    const Term& term = terms_[id];
    const bool gathered = term.kind == TermKind::sum || term.kind == TermKind::product;
    double together = 1;
    double width = 1;
    ParameterSet parts = 0;
    for (const TermId operand : term.operands) {
      const TermFacts& facts = terms_.facts(operand);
      if ((facts.parameters & bound) == 0) continue;
      if ((facts.parameters & ~bound) != 0) {
        collect(operand, bound, values);
      } else if (gathered) {
        together *= facts.count;
        width += static_cast<double>(facts.range.high) - static_cast<double>(facts.range.low);
        parts |= facts.parameters;
      } else {
        values.emplace(std::pair(operand, facts.parameters), facts.count);
      }
    }
    if (parts == 0) return;
    values.emplace(std::pair(id, parts),
                   term.kind == TermKind::sum ? std::min(together, width) : together);
  }

  const Component& component_;
  const Terms& terms_;
  std::span<const TermId> conditions_;
  std::unordered_map<ParameterSet, double> remembered_;
  std::map<std::pair<const Rule*, ParameterSet>, double> classes_;
};

std::vector<std::size_t> cheapest_next(Model& model, std::vector<std::size_t> open) {
  std::vector<std::size_t> order;
  while (!open.empty()) {
    std::size_t best = 0;
    double least = 0;
    for (std::size_t i = 0; i < open.size(); ++i) {
      order.push_back(open[i]);
      const double work = model.work(order);
      order.pop_back();
      if (i == 0 || work < least) {
        least = work;
        best = i;
      }
    }
    order.push_back(open[best]);
    open.erase(open.begin() + static_cast<std::ptrdiff_t>(best));
  }
  return order;
}

std::vector<std::size_t> moved(std::vector<std::size_t> order, std::size_t from, std::size_t to) {
  const std::size_t parameter = order[from];
  order.erase(order.begin() + static_cast<std::ptrdiff_t>(from));
  order.insert(order.begin() + static_cast<std::ptrdiff_t>(to), parameter);
  return order;
}

/// Moves single parameters for as long as that helps.
std::vector<std::size_t> improved(Model& model, std::vector<std::size_t> order) {
  constexpr std::size_t kMostTries = 4000;  // bounds the time for very many parameters
  constexpr double kWorthwhile = 0.999;
  double least = model.work(order);
  std::size_t tries = 0;
  bool better = true;
  while (better) {
    better = false;
    for (std::size_t from = 0; from < order.size(); ++from) {
      for (std::size_t to = 0; to < order.size(); ++to) {
        if (++tries > kMostTries) return order;
        std::vector<std::size_t> candidate = moved(order, from, to);
        const double work = model.work(candidate);
        if (work >= least * kWorthwhile) continue;
        least = work;
        order = std::move(candidate);
        better = true;
      }
    }
  }
  return order;
}

}  // namespace

std::vector<std::size_t> binding_order(const Component& component, const Terms& terms,
                                       std::span<const TermId> conditions) {
  std::vector<std::size_t> members;
  for (std::size_t i = 0; i < terms.definition().parameters.size(); ++i) {
    if ((component.parameters & parameter_bit(i)) != 0) members.push_back(i);
  }
  if (members.size() == 1) return members;
  Model model(component, terms, conditions);
  return improved(model, cheapest_next(model, std::move(members)));
}

}  // namespace tuner::space
