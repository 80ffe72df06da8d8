// SPDX-License-Identifier: Apache-2.0
#include "tuner/search/surrogate.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>

namespace tuner::search {
namespace {

constexpr std::size_t kTime = 0;
constexpr std::size_t kFailure = 1;  // 0 when it works, 1 when not

double normal_density(double z) {
  return std::exp(-z * z / 2) / std::sqrt(2 * std::numbers::pi);
}
double normal_distribution(double z) {
  return std::erfc(-z / std::numbers::sqrt2) / 2;
}

}  // namespace

Response::Response(double slow_side, std::span<const std::optional<double>> times_ns)
    : slow_side_(slow_side) {
  std::vector<double> logs;
  for (const auto& time : times_ns) {
    if (time) logs.push_back(std::log(*time));
  }
  if (logs.empty()) return;
  std::ranges::sort(logs);
  median_ = logs[logs.size() / 2];
  slowest_ = logs.back();
  double sum = 0;
  double squares = 0;
  for (const auto& time : times_ns) {
    const double value = bent(time ? std::log(*time) : slowest_);
    sum += value;
    squares += value * value;
  }
  const auto count = static_cast<double>(times_ns.size());
  mean_ = sum / count;
  const double variance = squares / count - mean_ * mean_;
  constexpr double kLeast = 1e-12;  // times that hardly differ say nothing, however they are scaled
  deviation_ = variance > kLeast ? std::sqrt(variance) : 1;
}

double Response::operator()(std::optional<double> time_ns) const {
  return (bent(time_ns ? std::log(*time_ns) : slowest_) - mean_) / deviation_;
}

double Response::bent(double log_time) const {
  return log_time > median_ ? median_ + (log_time - median_) * slow_side_ : log_time;
}

std::size_t Surrogate::Hash::operator()(const space::Config& config) const {
  std::size_t hash = 0;
  for (const std::uint32_t choice : config.choice) {
    hash = (hash ^ choice) * 0x9E3779B97F4A7C15;  // the golden ratio of 64 bits
    hash ^= hash >> 32;
  }
  return hash;
}

Surrogate::Surrogate(const Axes& axes, Covariance covariance, const Response& response)
    : axes_(axes),
      posterior_(std::move(covariance)),
      response_(response),
      fastest_(std::numeric_limits<double>::infinity()) {}

void Surrogate::consider(std::span<const space::Config> configs) {
  std::vector<Point> points;
  for (const space::Config& config : configs) {
    if (!candidate_of_.try_emplace(config, candidates_.size()).second) continue;
    candidates_.push_back(config);
    points.push_back(axes_.point(config));
  }
  open_.resize(candidates_.size(), true);
  posterior_.add(points);
}

void Surrogate::begin(const space::Config& config) {
  if (observes(config)) return;
  consider({&config, 1});
  const std::size_t candidate = candidate_of_.at(config);
  open_[candidate] = false;
  observation_of_[candidate] = posterior_.observations();
  posterior_.observe(candidate);
}

void Surrogate::withdraw(const space::Config& config) {
  const auto found = candidate_of_.find(config);
  if (found != candidate_of_.end()) open_[found->second] = false;
}

bool Surrogate::observes(const space::Config& config) const {
  const auto found = candidate_of_.find(config);
  return found != candidate_of_.end() && observation_of_.contains(found->second);
}

void Surrogate::learn(const space::Config& config, std::optional<double> time_ns) {
  const double response = response_(time_ns);
  const std::size_t observation = observation_of_.at(candidate_of_.at(config));
  posterior_.answer(observation, {response, time_ns ? 0.0 : 1.0});
  if (time_ns) fastest_ = std::min(fastest_, response);
}

const space::Config* Surrogate::most_promising() const {
  constexpr double kLeastVariance = 1e-8;  // what is left of it after rounding
  constexpr double kLeastChance = 0.02;    // the model may be wrong about what fails
  const double scale = std::sqrt(posterior_.scale(kTime));
  const space::Config* best = nullptr;
  double most = 0;
  double best_z = 0;
  double best_spread = 0;
  for (std::size_t i = 0; i < candidates_.size(); ++i) {
    if (!open_[i]) continue;
    const double deviation = scale * std::sqrt(std::max(posterior_.variance(i), kLeastVariance));
    const double z = (fastest_ - posterior_.mean(kTime, i)) / deviation;
    const double works = std::clamp(1 - posterior_.mean(kFailure, i), kLeastChance, 1.0);
    const double spread = works * deviation;
    // The improvement grows with both, and is costly to compute.
    if (best != nullptr && z <= best_z && spread <= best_spread) continue;
    const double improvement = spread * (z * normal_distribution(z) + normal_density(z));
    if (best != nullptr && improvement <= most) continue;
    best = &candidates_[i];
    most = improvement;
    best_z = z;
    best_spread = spread;
  }
  return best;
}

}  // namespace tuner::search
