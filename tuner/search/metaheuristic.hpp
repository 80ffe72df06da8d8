// SPDX-License-Identifier: Apache-2.0
// Internal to search.
#pragma once

#include "tuner/search/strategy.hpp"
#include "tuner/search/visited_set.hpp"

#include <random>
#include <span>
#include <vector>

namespace tuner::search {

/// What a configuration is judged by: the logarithm of its time, so that differences mean ratios
/// whatever the kernel and the unit; infinity for one that failed.
using Loss = double;

/// What the strategies share that move through the space on what they have seen: none waits for
/// answers, none asks for a configuration again, and a proposal that was seen before becomes one
/// beside it, or any.
class Metaheuristic : public Strategy {
 public:
  std::vector<space::Config> ask(std::size_t count, Budget budget) final;
  void tell(const space::Config& config, Outcome outcome, std::optional<double> time_ns) final;

 protected:
  Metaheuristic(const space::Space& space, std::uint64_t seed);

  /// A configuration of the space, seen or not; none for one at random. `spent` is the share of the
  /// budget, estimated where it is not known.
  [[nodiscard]] virtual std::optional<space::Config> propose(double spent) = 0;
  /// What is asked for in consequence of the last `propose`.
  virtual void asked(const space::Config& /*config*/) {}
  /// The result of a configuration, proposed or not.
  virtual void learn(const space::Config& config, Loss loss) = 0;

  /// Each parameter as one of the two has it, repaired into the space, which both are in.
  [[nodiscard]] space::Config mixture(const space::Config& one, const space::Config& other);

  [[nodiscard]] const space::Space& space() const { return space_; }
  [[nodiscard]] std::mt19937_64& random() { return random_; }
  /// Whether it was asked for or told of.
  [[nodiscard]] bool seen(const space::Config& config) const { return visited_.contains(config); }
  /// How many it was told of.
  [[nodiscard]] std::size_t answers() const { return answers_; }
  /// From 0 to below 1.
  [[nodiscard]] double uniform();
  /// From 0 to below `count`.
  [[nodiscard]] std::size_t any_below(std::size_t count);

 private:
  const space::Space& space_;
  std::mt19937_64 random_;
  VisitedSet visited_;
  std::size_t answers_ = 0;
};

/// A configuration and its result.
struct Member {
  space::Config config;
  Loss loss = 0;
};

/// The best configurations so far that ended `ok`, as many as fit.
class Population {
 public:
  explicit Population(std::size_t capacity) : capacity_(capacity) {}

  /// Adds a member unless there are enough better ones; of a configuration that is added again the
  /// last loss counts. Failures are no members.
  void add(const space::Config& config, Loss loss);

  /// The best first.
  [[nodiscard]] std::span<const Member> members() const { return members_; }
  [[nodiscard]] bool full() const { return members_.size() == capacity_; }

 private:
  std::size_t capacity_;
  std::vector<Member> members_;
};

}  // namespace tuner::search
