// SPDX-License-Identifier: Apache-2.0
#include "tuner/search/posterior.hpp"

#include <algorithm>
#include <cmath>

namespace tuner::search {
namespace {

/// So many candidates at a time that all their rows stay in the cache.
constexpr std::size_t kBlock = 512;
/// Rounding must not make an observation certain.
constexpr double kLeastPivot = 1e-6;

/// target −= factor · source, over a range of candidates.
void subtract(std::vector<float>& target, float factor, const std::vector<float>& source,
              std::size_t first, std::size_t last) {
  float* const to = target.data();
  const float* const from = source.data();
  for (std::size_t i = first; i < last; ++i) to[i] -= factor * from[i];
}

}  // namespace

void Posterior::add(std::span<const Point> candidates) {
  const std::size_t begin = variance_.size();
  const std::size_t end = begin + candidates.size();
  for (const Point& point : candidates) {
    choices_.insert(choices_.end(), point.begin(), point.end());
  }
  variance_.resize(end, 1);
  for (auto& mean : mean_) mean.resize(end);
  for (Observation& observation : observed_) observation.whitened.resize(end);
  for (std::size_t first = begin; first < end; first += kBlock) {
    const std::size_t last = std::min(first + kBlock, end);
    for (std::size_t o = 0; o < observed_.size(); ++o) whiten(o, first, last);
  }
}

/// Finds the row of an observation for a range of candidates, all earlier rows being there.
void Posterior::whiten(std::size_t observation, std::size_t first, std::size_t last) {
  Observation& own = observed_[observation];
  std::vector<float>& row = own.whitened;
  for (std::size_t i = first; i < last; ++i) {
    row[i] = static_cast<float>(covariance_.between(point(own.candidate), point(i)));
  }
  for (std::size_t k = 0; k < observation; ++k) {
    subtract(row, own.factor[k], observed_[k].whitened, first, last);
  }
  const float inverse = 1 / own.factor.back();
  for (std::size_t i = first; i < last; ++i) {
    row[i] *= inverse;
    variance_[i] -= row[i] * row[i];
  }
  for (std::size_t q = 0; q < kQuantities; ++q) {
    if (own.weight[q] == 0) continue;
    subtract(mean_[q], -static_cast<float>(own.weight[q]), row, first, last);
  }
}

void Posterior::observe(std::size_t candidate) {
  Observation observation{.candidate = candidate};
  double pivot = 1 + covariance_.noise();
  for (const Observation& earlier : observed_) {
    const float factor = earlier.whitened[candidate];
    observation.factor.push_back(factor);
    pivot -= static_cast<double>(factor) * factor;
  }
  observation.factor.push_back(static_cast<float>(std::sqrt(std::max(pivot, kLeastPivot))));
  observation.whitened.resize(candidates());
  observed_.push_back(std::move(observation));
  for (std::size_t first = 0; first < candidates(); first += kBlock) {
    whiten(observed_.size() - 1, first, std::min(first + kBlock, candidates()));
  }
}

/// The weights of what was observed later depend on this one.
void Posterior::answer(std::size_t observation, const Quantities& values) {
  observed_[observation].answered = true;
  observed_[observation].values = values;
  for (std::size_t o = observation; o < observed_.size(); ++o) {
    Observation& own = observed_[o];
    if (!own.answered) continue;
    for (std::size_t q = 0; q < kQuantities; ++q) {
      double rest = own.values[q];
      for (std::size_t k = 0; k < o; ++k) rest -= own.factor[k] * observed_[k].weight[q];
      const double weight = rest / own.factor.back();
      const double change = weight - own.weight[q];
      own.weight[q] = weight;
      if (change == 0) continue;
      subtract(mean_[q], -static_cast<float>(change), own.whitened, 0, candidates());
    }
  }
}

double Posterior::scale(std::size_t quantity) const {
  double sum = 0;
  std::size_t answered = 0;
  for (const Observation& observation : observed_) {
    if (!observation.answered) continue;
    sum += observation.weight[quantity] * observation.weight[quantity];
    ++answered;
  }
  return answered == 0 ? 1 : sum / static_cast<double>(answered);
}

}  // namespace tuner::search
