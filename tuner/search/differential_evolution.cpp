// SPDX-License-Identifier: Apache-2.0
#include "tuner/search/differential_evolution.hpp"

#include "tuner/search/repair.hpp"

#include <algorithm>
#include <cmath>

namespace tuner::search {
namespace {

constexpr std::size_t kMembers = 20;
constexpr double kScale = 0.8;      // of the differences that are added
constexpr double kCrossover = 0.4;  // share of the parameters that move
constexpr double kBest = 0.2;       // share of the members that others move towards

}  // namespace

DifferentialEvolution::DifferentialEvolution(const space::Space& space, std::uint64_t seed)
    : Metaheuristic(space, seed) {}

const space::Config& DifferentialEvolution::one_of_the_best() {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < members_.size(); ++i) order.push_back(i);
  std::ranges::sort(order, {}, [&](std::size_t i) { return members_[i].loss; });
  const auto best =
      std::max<std::size_t>(1, static_cast<std::size_t>(kBest * static_cast<double>(order.size())));
  return members_[order[any_below(best)]].config;
}

space::Config DifferentialEvolution::moved(const space::Config& config) {
  const space::Config& best = one_of_the_best();
  const space::Config& plus = members_[any_below(members_.size())].config;
  const space::Config& minus = members_[any_below(members_.size())].config;
  space::Config result = config;
  const std::size_t surely = any_below(config.choice.size());
  for (std::size_t p = 0; p < config.choice.size(); ++p) {
    if (p != surely && uniform() >= kCrossover) continue;
    const double here = config.choice[p];
    const double place = here + kScale * (best.choice[p] - here) +
                         kScale * (static_cast<double>(plus.choice[p]) - minus.choice[p]);
    const auto last = static_cast<double>(space().definition().parameters[p].values.size() - 1);
    result.choice[p] = static_cast<std::uint32_t>(std::lround(std::clamp(place, 0.0, last)));
  }
  return result;
}

std::optional<space::Config> DifferentialEvolution::propose(double) {
  target_.reset();
  if (members_.size() < kMembers) return std::nullopt;
  target_ = next_++ % members_.size();
  const space::Config& from = members_[*target_].config;
  return repaired(space(), moved(from), from);
}

void DifferentialEvolution::asked(const space::Config& config) {
  if (target_) targets_[config] = *target_;
}

void DifferentialEvolution::learn(const space::Config& config, Loss loss) {
  const auto target = targets_.find(config);
  if (target != targets_.end()) {
    Member& member = members_[target->second];
    if (loss <= member.loss) member = {config, loss};
    targets_.erase(target);
  } else if (members_.size() < kMembers) {
    if (std::isfinite(loss)) members_.push_back({config, loss});
  } else {
    Member& worst = *std::ranges::max_element(members_, {}, &Member::loss);
    if (loss < worst.loss) worst = {config, loss};
  }
}

}  // namespace tuner::search
