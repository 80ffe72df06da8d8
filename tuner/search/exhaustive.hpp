// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/search/strategy.hpp"

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

}  // namespace tuner::search
