// SPDX-License-Identifier: Apache-2.0
#include "tuner/space/order.hpp"

#include <algorithm>

namespace tuner {
namespace {

/// Work of looking a rule up in its table and of evaluating it, in units of visiting a node.
constexpr double kLookUp = 0.5;
constexpr double kEvaluation = 10;

/// Predicts the work of an order, taking the rules for independent of each other.
class Model {
 public:
  Model(const SpaceDefinition& definition, const std::vector<const Rule*>& rules)
      : definition_(definition), rules_(rules) {}

  double work(const std::vector<std::size_t>& order) const {
    double nodes = 1;
    double total = 0;
    ParameterSet bound = 0;
    for (const std::size_t parameter : order) {
      bound |= parameter_bit(parameter);
      nodes *= static_cast<double>(definition_.parameters[parameter].values.size());
      total += nodes;
      for (const Rule* rule : rules_) {
        const bool completed =
            (rule->parameters & parameter_bit(parameter)) != 0 && (rule->parameters & ~bound) == 0;
        if (!completed) continue;
        total += nodes * (rule->table.empty() ? kEvaluation : kLookUp);
        nodes *= rule->selectivity;
      }
    }
    return total;
  }

 private:
  const SpaceDefinition& definition_;
  const std::vector<const Rule*>& rules_;
};

std::vector<std::size_t> cheapest_next(const Model& model, std::vector<std::size_t> open) {
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
std::vector<std::size_t> improved(const Model& model, std::vector<std::size_t> order) {
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

std::vector<std::size_t> binding_order(const SpaceDefinition& definition,
                                       const std::vector<const Rule*>& rules, ParameterSet group) {
  std::vector<std::size_t> members;
  for (std::size_t i = 0; i < definition.parameters.size(); ++i) {
    if ((group & parameter_bit(i)) != 0) members.push_back(i);
  }
  if (members.size() == 1) return members;
  const Model model(definition, rules);
  return improved(model, cheapest_next(model, std::move(members)));
}

}  // namespace tuner
