// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/search/strategy.hpp"

#include <random>
#include <unordered_map>

namespace tuner::search {

/// Every configuration once, in the order of the space.
class Exhaustive : public Strategy {
 public:
  explicit Exhaustive(const space::Space& space) : space_(space) {}

  std::vector<space::Config> ask(std::size_t count, Budget budget) override;
  void tell(const space::Config& config, Outcome outcome, std::optional<double> time_ns) override;

 private:
  const space::Space& space_;
  std::uint64_t next_ = 0;
};

/// Every configuration once, in a random order: an unbiased sample for as long as it runs, the
/// whole space in the end. The order is a Fisher–Yates shuffle of the positions of which only the
/// moved ones are kept, so memory grows with the configurations asked for, not with the space.
class RandomOrder : public Strategy {
 public:
  RandomOrder(const space::Space& space, std::uint64_t seed) : space_(space), random_(seed) {}

  std::vector<space::Config> ask(std::size_t count, Budget budget) override;
  void tell(const space::Config& config, Outcome outcome, std::optional<double> time_ns) override;

 private:
  [[nodiscard]] std::uint64_t draw();

  const space::Space& space_;
  std::mt19937_64 random_;
  std::uint64_t drawn_ = 0;
  std::unordered_map<std::uint64_t, std::uint64_t> moved_;  // place in the shuffle → position
};

}  // namespace tuner::search
