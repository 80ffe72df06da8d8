// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/search/posterior.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

namespace tuner::search {

/// How a time becomes the value that a surrogate learns: its logarithm, standardised, where
/// whatever is slower than the median differs from it by only `slow_side` as much, since the fast
/// end has to be known best. A failure counts as the slowest success.
class Response {
 public:
  /// What these times in nanoseconds, none of a failure, make typical. Without any: nothing.
  Response(double slow_side, std::span<const std::optional<double>> times_ns);

  [[nodiscard]] double operator()(std::optional<double> time_ns) const;

 private:
  [[nodiscard]] double bent(double log_time) const;

  double slow_side_;
  double median_ = 0;  // logarithms of times
  double slowest_ = 0;
  double mean_ = 0;  // of what is bent
  double deviation_ = 1;
};

/// A proposed configuration, and its result once that is known.
struct Trial {
  space::Config config;
  bool answered = false;
  std::optional<double> time_ns = {};  ///< none when it failed
};

/// Predicts from trials how fast candidates are and whether they work, and says which is the most
/// promising to try.
class Surrogate {
 public:
  /// The axes must outlive it.
  Surrogate(const Axes& axes, Covariance covariance, const Response& response);

  /// Makes configurations candidates, if they are not yet.
  void consider(std::span<const space::Config> configs);
  /// That a configuration is being tried, or was: an observation, and no candidate any more.
  void begin(const space::Config& config);
  /// That a configuration is no candidate any more, without an observation of it.
  void withdraw(const space::Config& config);
  [[nodiscard]] bool observes(const space::Config& config) const;
  /// The result of a configuration that was begun.
  void learn(const space::Config& config, std::optional<double> time_ns);

  /// The candidate whose expected improvement on the fastest, times the probability that it works
  /// at all, is largest (Jones, Schonlau, Welch, "Efficient Global Optimization", 1998; Gelbart,
  /// Snoek, Adams, "Bayesian Optimization with Unknown Constraints", 2014). None without
  /// candidates.
  [[nodiscard]] const space::Config* most_promising() const;

  [[nodiscard]] std::size_t observations() const { return posterior_.observations(); }

 private:
  struct Hash {
    std::size_t operator()(const space::Config& config) const;
  };

  const Axes& axes_;
  Posterior posterior_;
  Response response_;
  std::vector<space::Config> candidates_;
  std::vector<bool> open_;  // by candidate: may be proposed
  std::unordered_map<space::Config, std::size_t, Hash> candidate_of_;
  std::unordered_map<std::size_t, std::size_t> observation_of_;  // candidate → observation
  double fastest_;                                               // response
};

}  // namespace tuner::search
