// SPDX-License-Identifier: Apache-2.0
#include "tuner/search/strategy.hpp"

#include "tuner/core/error.hpp"
#include "tuner/core/suggest.hpp"
#include "tuner/search/exhaustive.hpp"
#include "tuner/search/random_order.hpp"

#include <fmt/format.h>

namespace tuner {

std::vector<std::string> strategy_names() {
  return {"auto", "exhaustive", "random"};
}

std::unique_ptr<Strategy> make_strategy(std::string_view name, const Space& space,
                                        std::uint64_t seed) {
  if (name == "exhaustive") return std::make_unique<Exhaustive>(space);
  // A random order is exhaustive when the budget lasts and unbiased when it does not, so without
  // learning there is nothing better to choose automatically.
  if (name == "random" || name == "auto") return std::make_unique<RandomOrder>(space, seed);
  throw Error(ErrorCode::usage, fmt::format("no strategy is called '{}'{}", name,
                                            did_you_mean(name, strategy_names())));
}

}  // namespace tuner
