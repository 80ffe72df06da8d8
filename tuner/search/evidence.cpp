// SPDX-License-Identifier: Apache-2.0
#include "tuner/search/evidence.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tuner::search {
namespace {

double log_density(const Prior& prior, const Hyperparameters& hyperparameters) {
  double sum = 0;
  for (const double log_length : hyperparameters.log_lengths) {
    const double deviation = (log_length - std::log(prior.length)) / prior.length_spread;
    sum -= deviation * deviation / 2;
  }
  return sum;
}

/// `start` with one of its numbers changed.
Hyperparameters changed(const Prior& prior, Hyperparameters start, std::mt19937_64& random) {
  std::normal_distribution<double> normal;
  const std::size_t lengths = start.log_lengths.size();
  const std::size_t which = std::uniform_int_distribution<std::size_t>(0, lengths + 1)(random);
  if (which < lengths) {
    double& length = start.log_lengths[which];
    length = std::clamp(length + normal(random), std::log(0.03), std::log(20.0));
  } else if (which == lengths) {
    start.additive = std::clamp(start.additive + 0.3 * normal(random), 0.0, prior.most_additive);
  } else {
    start.noise = std::clamp(start.noise * std::exp(normal(random)), 1e-4, 0.5);
  }
  return start;
}

}  // namespace

double log_evidence(const Axes& axes, const Prior& prior, const Hyperparameters& hyperparameters,
                    std::span<const Point> points, std::span<const double> values) {
  const Covariance covariance(axes, prior.correlation, hyperparameters);
  const std::size_t n = points.size();
  std::vector<double> factor(n * n);  // Cholesky's, lower, by rows
  std::vector<double> whitened(n);    // the values with their covariance divided out
  double log_determinant = 0;         // half of it
  double misfit = 0;
  for (std::size_t i = 0; i < n; ++i) {
    double* const row = &factor[i * n];
    double value = values[i];
    double pivot = 1 + covariance.noise();
    for (std::size_t j = 0; j < i; ++j) {
      const double* const other = &factor[j * n];
      double rest = covariance.between(points[i], points[j]);
      for (std::size_t k = 0; k < j; ++k) rest -= row[k] * other[k];
      row[j] = rest / other[j];
      pivot -= row[j] * row[j];
      value -= row[j] * whitened[j];
    }
    if (pivot <= 0) return -std::numeric_limits<double>::infinity();
    row[i] = std::sqrt(pivot);
    whitened[i] = value / row[i];
    log_determinant += std::log(row[i]);
    misfit += whitened[i] * whitened[i];
  }
  const auto count = static_cast<double>(n);
  return log_density(prior, hyperparameters) - log_determinant -
         count / 2 * std::log(misfit / count);
}

Hyperparameters improved(const Axes& axes, const Prior& prior, Hyperparameters start,
                         std::span<const Point> points, std::span<const double> values, int changes,
                         std::mt19937_64& random) {
  double evidence = log_evidence(axes, prior, start, points, values);
  for (int i = 0; i < changes; ++i) {
    Hyperparameters candidate = changed(prior, start, random);
    const double found = log_evidence(axes, prior, candidate, points, values);
    if (found <= evidence) continue;
    evidence = found;
    start = std::move(candidate);
  }
  return start;
}

Hyperparameters likely_hyperparameters(const Axes& axes, const Prior& prior) {
  return {.log_lengths = std::vector<double>(axes.count(), std::log(prior.length)),
          .additive = prior.most_additive / 2};
}

}  // namespace tuner::search
