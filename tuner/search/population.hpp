// SPDX-License-Identifier: Apache-2.0
// Internal to search.
#pragma once

#include "tuner/search/metaheuristic.hpp"

#include <span>
#include <vector>

namespace tuner::search {

/// A configuration and its result.
struct Member {
  space::Config config;
  Loss loss = 0;
};

/// The best configurations so far that ended `ok`, as many as fit.
class Population {
 public:
  explicit Population(std::size_t capacity) : capacity_(capacity) {}

  /// Takes a member in unless there are enough better ones; what it is told of again counts as told
  /// last. Failures are no members.
  void add(const space::Config& config, Loss loss);

  /// The best first.
  [[nodiscard]] std::span<const Member> members() const { return members_; }
  [[nodiscard]] bool full() const { return members_.size() == capacity_; }

 private:
  std::size_t capacity_;
  std::vector<Member> members_;
};

}  // namespace tuner::search
