// SPDX-License-Identifier: Apache-2.0
#include "tuner/search/metaheuristic.hpp"

#include "tuner/search/repair.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tuner::search {
namespace {

/// Without an end in sight a search is taken to be half way after this many answers.
constexpr double kHalfWay = 300;

}  // namespace

Metaheuristic::Metaheuristic(const space::Space& space, std::uint64_t seed)
    : space_(space), random_(seed), visited_(space, seed) {}

double Metaheuristic::uniform() {
  return std::uniform_real_distribution<double>()(random_);
}

std::size_t Metaheuristic::any_below(std::size_t count) {
  return std::uniform_int_distribution<std::size_t>(0, count - 1)(random_);
}

space::Config Metaheuristic::mixture(const space::Config& one, const space::Config& other) {
  space::Config mixed = one;
  for (std::size_t p = 0; p < mixed.choice.size(); ++p) {
    if (uniform() < 0.5) mixed.choice[p] = other.choice[p];
  }
  return repaired(space_, mixed, one);
}

std::vector<space::Config> Metaheuristic::ask(std::size_t count, Budget budget) {
  const auto answers = static_cast<double>(answers_);
  const double spent = budget.spent.value_or(answers / (answers + kHalfWay));
  std::vector<space::Config> configs;
  while (configs.size() < count) {
    std::optional<space::Config> config = propose(spent);
    if (config && !visited_.insert(*config)) {
      config = visited_.insert_near(std::move(*config), random_);
    }
    if (!config) config = visited_.insert_random();
    if (!config) break;
    asked(*config);
    configs.push_back(std::move(*config));
  }
  return configs;
}

void Metaheuristic::tell(const space::Config& config, Outcome outcome,
                         std::optional<double> time_ns) {
  visited_.insert(config);
  ++answers_;
  const bool timed = outcome == Outcome::ok && time_ns && *time_ns > 0;
  learn(config, timed ? std::log(*time_ns) : std::numeric_limits<Loss>::infinity());
}

void Population::add(const space::Config& config, Loss loss) {
  std::erase_if(members_, [&](const Member& member) { return member.config == config; });
  if (!std::isfinite(loss)) return;
  const auto place = std::ranges::upper_bound(members_, loss, {}, &Member::loss);
  members_.insert(place, {.config = config, .loss = loss});
  if (members_.size() > capacity_) members_.pop_back();
}

}  // namespace tuner::search
