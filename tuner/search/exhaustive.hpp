// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/search/strategy.hpp"

namespace tuner {

/// Every configuration once, in the order of the space.
class Exhaustive : public Strategy {
 public:
  explicit Exhaustive(const Space& space) : space_(space) {}

  std::vector<Config> ask(std::size_t count, Budget budget) override;
  void tell(const Config& config, Outcome outcome, std::optional<double> time_ns) override;

 private:
  const Space& space_;
  std::uint64_t next_ = 0;
};

}  // namespace tuner
