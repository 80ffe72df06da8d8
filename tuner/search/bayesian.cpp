// SPDX-License-Identifier: Apache-2.0
#include "tuner/search/bayesian.hpp"

#include <algorithm>
#include <numeric>

namespace tuner::search {
namespace {

/// Without them there is nothing to model.
constexpr std::size_t kLeastSuccesses = 3;
/// Bounds of memory and time: the product of candidates and observations is what a model costs. All
/// configurations of a space up to the first size are candidates, of a larger one a random sample.
constexpr std::size_t kMostListed = 8'000;
constexpr std::size_t kSampled = 4'000;
constexpr std::size_t kMostObservations = 1536;
constexpr std::size_t kMostTraining = 1024;
/// In a large space: the number of fastest configurations whose neighbours are candidates, and the
/// number of candidates for each that differ in two parameters.
constexpr std::size_t kElite = 10;
constexpr std::size_t kSecondNeighbours = 30;

}  // namespace

Bayesian::Bayesian(const space::Space& space, std::uint64_t seed, const BayesianSettings& settings)
    : space_(space),
      settings_(settings),
      random_(seed),
      visited_(space, seed),
      axes_(space.definition()),
      hyperparameters_(likely_hyperparameters(axes_, settings.prior)) {}

std::vector<space::Config> Bayesian::ask(std::size_t count, Budget) {
  std::vector<space::Config> configs;
  while (configs.size() < count) {
    auto config = next();
    if (!config) break;
    configs.push_back(std::move(*config));
  }
  return configs;
}

std::optional<space::Config> Bayesian::next() {
  if (initial()) {
    const bool waits = trials_.size() - answered_ >= settings_.initial;
    return waits ? std::nullopt : begun(visited_.insert_random());
  }
  if (fit_is_due()) {
    fit();
  } else if (looks_again()) {
    looked_ = answered_;
    surrogate_->consider(near_best());
  }
  const space::Config* const promising = surrogate_->most_promising();
  if (promising == nullptr) return begun(visited_.insert_random());
  visited_.insert(*promising);
  std::optional<space::Config> config = begun(*promising);
  if (surrogate_->observations() < kMostObservations) {
    surrogate_->begin(*config);
  } else {  // the next fit learns from it
    surrogate_->withdraw(*config);
  }
  return config;
}

void Bayesian::tell(const space::Config& config, Outcome outcome, std::optional<double> time_ns) {
  visited_.insert(config);
  const std::size_t index = trial_of(config);
  Trial& trial = trials_[index];
  if (!trial.answered) ++answered_;
  if (trial.time_ns) by_time_.erase({*trial.time_ns, index});
  trial.answered = true;
  trial.time_ns = outcome == Outcome::ok ? time_ns : std::nullopt;
  if (trial.time_ns) by_time_.insert({*trial.time_ns, index});
  if (!surrogate_) return;
  if (surrogate_->observes(config)) {
    surrogate_->learn(config, trial.time_ns);
  } else {  // not asked for: the next fit learns from it
    surrogate_->withdraw(config);
  }
  const bool fastest = trial.time_ns && by_time_.begin()->second == index;
  if (fastest && settings_.candidates == Candidates::anywhere_and_near_best) {
    surrogate_->consider(unvisited_neighbours(config));
  }
}

std::optional<space::Config> Bayesian::begun(std::optional<space::Config> config) {
  if (config) static_cast<void>(trial_of(*config));
  return config;
}

/// The trial of a configuration, a new one if it has none.
std::size_t Bayesian::trial_of(const space::Config& config) {
  const auto [found, added] = index_.try_emplace(config, trials_.size());
  if (added) trials_.push_back({.config = config});
  return found->second;
}

bool Bayesian::initial() const {
  return answered_ < settings_.initial || by_time_.size() < kLeastSuccesses;
}

bool Bayesian::fit_is_due() const {
  constexpr std::size_t kGrowth = 4;  // a quarter more to learn from
  return !surrogate_ || answered_ > fitted_ + fitted_ / kGrowth;
}

bool Bayesian::looks_again() const {
  constexpr std::size_t kLeast = 32;  // answers, and more where looking costs more
  constexpr std::size_t kShare = 8;
  return settings_.candidates == Candidates::anywhere_and_near_best &&
         space_.size() > kMostListed && answered_ >= looked_ + std::max(kLeast, fitted_ / kShare);
}

void Bayesian::fit() {
  improve_hyperparameters();
  fitted_ = looked_ = answered_;
  std::vector<space::Config> configs;
  std::vector<std::optional<double>> answers;
  const std::vector<std::size_t> chosen = training();
  for (const std::size_t index : chosen) {
    configs.push_back(trials_[index].config);
    if (trials_[index].answered) answers.push_back(trials_[index].time_ns);
  }
  surrogate_.emplace(axes_, Covariance(axes_, settings_.prior.correlation, hyperparameters_),
                     Response(settings_.slow_side, answers));
  surrogate_->consider(configs);
  for (const std::size_t index : chosen) {
    const Trial& trial = trials_[index];
    surrogate_->begin(trial.config);
    if (trial.answered) surrogate_->learn(trial.config, trial.time_ns);
  }
  surrogate_->consider(candidates());
}

void Bayesian::improve_hyperparameters() {
  constexpr std::size_t kEnough = 300;    // answers, beyond which they hardly change
  constexpr std::size_t kMostUsed = 160;  // the evidence costs their cube
  constexpr int kChanges = 50;
  if (answered_ > kEnough) return;
  std::vector<const Trial*> used;
  for (const Trial& trial : trials_) {
    if (trial.answered) used.push_back(&trial);
  }
  std::vector<std::optional<double>> answers;
  for (const Trial* trial : used) answers.push_back(trial->time_ns);
  const Response response(settings_.slow_side, answers);
  if (used.size() > kMostUsed) {  // a third of them the fastest, the rest at random
    const auto rest = used.begin() + kMostUsed / 3;
    std::ranges::nth_element(used, rest, {},
                             [&](const Trial* trial) { return response(trial->time_ns); });
    std::shuffle(rest, used.end(), random_);
    used.resize(kMostUsed);
  }
  std::vector<Point> points;
  std::vector<double> values;
  for (const Trial* trial : used) {
    points.push_back(axes_.point(trial->config));
    values.push_back(response(trial->time_ns));
  }
  const int changes = fitted_ == 0 ? 2 * kChanges : kChanges;
  hyperparameters_ = improved(axes_, settings_.prior, std::move(hyperparameters_), points, values,
                              changes, random_);
}

/// All trials; of very many the fastest half, others at random, and whatever is under way.
std::vector<std::size_t> Bayesian::training() {
  std::vector<std::size_t> chosen(trials_.size());
  std::iota(chosen.begin(), chosen.end(), std::size_t{0});
  if (chosen.size() <= kMostTraining) return chosen;
  std::set<std::size_t> kept;
  for (const auto& [time, index] : by_time_) {
    if (kept.size() >= kMostTraining / 2) break;
    kept.insert(index);
  }
  for (const std::size_t index : chosen) {
    if (!trials_[index].answered) kept.insert(index);
  }
  std::ranges::shuffle(chosen, random_);
  for (const std::size_t index : chosen) {
    if (kept.size() >= kMostTraining) break;
    kept.insert(index);
  }
  return {kept.begin(), kept.end()};
}

std::vector<space::Config> Bayesian::candidates() {
  std::vector<space::Config> result;
  if (space_.size() <= kMostListed) {
    for (std::uint64_t i = 0; i < space_.size(); ++i) {
      space::Config config = space_.at(i);
      if (!visited_.contains(config)) result.push_back(std::move(config));
    }
    return result;
  }
  if (settings_.candidates == Candidates::anywhere_and_near_best) result = near_best();
  for (std::size_t i = 0; i < kSampled; ++i) {
    space::Config config = space_.sample(random_);
    if (!visited_.contains(config)) result.push_back(std::move(config));
  }
  return result;
}

std::vector<space::Config> Bayesian::near_best() {
  std::vector<space::Config> best;
  for (const auto& [time, index] : by_time_) {
    if (best.size() == kElite) break;
    const space::Config& config = trials_[index].config;
    if (space_.position(config)) best.push_back(config);
  }
  std::vector<space::Config> result;
  for (const space::Config& config : best) {
    std::ranges::move(unvisited_neighbours(config), std::back_inserter(result));
    for (std::size_t i = 0; i < kSecondNeighbours; ++i) {
      auto other = space_.random_neighbour(config, space::Neighbourhood::hamming2, random_);
      if (other && !visited_.contains(*other)) result.push_back(std::move(*other));
    }
  }
  return result;
}

std::vector<space::Config> Bayesian::unvisited_neighbours(const space::Config& config) const {
  if (!space_.position(config)) return {};  // told of from elsewhere
  std::vector<space::Config> neighbours = space_.neighbours(config);
  std::erase_if(neighbours, [&](const space::Config& each) { return visited_.contains(each); });
  return neighbours;
}

}  // namespace tuner::search
