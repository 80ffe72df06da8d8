// SPDX-License-Identifier: Apache-2.0
#include "tuner/search/local_search.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tuner::search {
namespace {

// How far two values of a parameter are apart at least, first and last being 1 apart.
constexpr float kDifferent = 0.5F;

constexpr std::size_t kInitial = 15;  // configurations at random; the search begins at the best
constexpr std::size_t kEliteCount = 8;
constexpr std::size_t kNeighbours = 8;  // of each kind, how many are candidates for a step
constexpr std::size_t kMixtures = 2;
constexpr std::size_t kAny = 2;
constexpr std::size_t kNearest = 5;     // tried configurations that a prediction rests on
constexpr std::size_t kMemory = 2'000;  // tried configurations that are remembered for it
constexpr double kHot = 0.03;           // temperature at the start; it falls to 0
constexpr std::size_t kPatience = 100;  // steps refused until it begins somewhere else
constexpr double kFailed = 1;           // a failure counts as e times the slowest

}  // namespace

NeighbourhoodMemory::NeighbourhoodMemory(const space::SpaceDefinition& definition,
                                         std::size_t nearest, std::size_t capacity)
    : nearest_(nearest), capacity_(capacity) {
  for (const space::Parameter& parameter : definition.parameters) {
    const std::size_t steps = std::max<std::size_t>(1, parameter.values.size() - 1);
    step_.push_back((1 - kDifferent) / static_cast<float>(steps));
  }
}

void NeighbourhoodMemory::add(const space::Config& config, Loss loss) {
  if (losses_.size() < capacity_) {
    places_.insert(places_.end(), config.choice.begin(), config.choice.end());
    losses_.push_back(loss);
    return;
  }
  std::ranges::copy(config.choice,
                    places_.begin() + static_cast<std::ptrdiff_t>(next_ * step_.size()));
  losses_[next_] = loss;
  next_ = (next_ + 1) % capacity_;
}

Loss NeighbourhoodMemory::expected(const space::Config& config) const {
  struct Near {
    float distance;
    Loss loss;
  };
  const std::vector<float> wanted(config.choice.begin(), config.choice.end());
  std::vector<Near> near;  // ascending
  float furthest = std::numeric_limits<float>::infinity();
  const float* place = places_.data();
  for (const Loss loss : losses_) {
    float distance = 0;
    for (std::size_t p = 0; p < wanted.size() && distance < furthest; ++p) {
      if (wanted[p] != place[p]) distance += kDifferent + step_[p] * std::abs(wanted[p] - place[p]);
    }
    place += wanted.size();
    if (distance >= furthest) continue;
    if (near.size() == nearest_) near.pop_back();
    near.insert(std::ranges::upper_bound(near, distance, {}, &Near::distance), {distance, loss});
    if (near.size() == nearest_) furthest = near.back().distance;
  }
  Loss sum = 0;
  for (const Near& each : near) sum += each.loss;
  return sum / static_cast<double>(near.size());
}

LocalSearch::LocalSearch(const space::Space& space, std::uint64_t seed)
    : Metaheuristic(space, seed),
      elite_(kEliteCount),
      tried_(space.definition(), kNearest, kMemory) {}

std::vector<space::Config> LocalSearch::candidates() {
  std::vector<space::Config> candidates = space().neighbours(current_->config);
  std::erase_if(candidates, [&](const space::Config& config) { return seen(config); });
  std::ranges::shuffle(candidates, random());
  candidates.resize(std::min(candidates.size(), kNeighbours));
  const auto elite = elite_.members();
  for (std::size_t i = 0; i < kMixtures; ++i) {
    const space::Config& one = elite[any_below(elite.size())].config;
    candidates.push_back(mixture(one, elite[any_below(elite.size())].config));
  }
  for (std::size_t i = 0; i < kAny; ++i) candidates.push_back(space().sample(random()));
  std::erase_if(candidates, [&](const space::Config& config) { return seen(config); });
  return candidates;
}

std::optional<space::Config> LocalSearch::propose(double spent) {
  temperature_ = kHot * (1 - spent);
  if (answers() < kInitial || !current_) return std::nullopt;
  const std::vector<space::Config> open = candidates();
  if (open.empty()) return current_->config;
  std::vector<Loss> losses;
  for (const space::Config& config : open) losses.push_back(tried_.expected(config));
  return open[static_cast<std::size_t>(std::ranges::min_element(losses) - losses.begin())];
}

void LocalSearch::learn(const space::Config& config, Loss loss) {
  elite_.add(config, loss);
  const bool failed = !std::isfinite(loss);
  if (!failed) slowest_ = std::max(slowest_.value_or(loss), loss);
  tried_.add(config, failed ? slowest_.value_or(0) + kFailed : loss);
  const bool faster = !failed && (!current_ || loss <= current_->loss);
  const bool searching = answers() > kInitial && current_ && temperature_ > 0;
  if (faster || (searching && uniform() < std::exp((current_->loss - loss) / temperature_))) {
    current_ = Member{config, loss};
    refused_ = 0;
  } else if (++refused_ >= kPatience) {
    current_.reset();
    refused_ = 0;
  }
}

}  // namespace tuner::search
