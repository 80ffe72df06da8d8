// SPDX-License-Identifier: Apache-2.0
#include "tuner/search/exhaustive.hpp"

namespace tuner::search {

std::vector<space::Config> Exhaustive::ask(std::size_t count, Budget) {
  std::vector<space::Config> configs;
  while (configs.size() < count && next_ < space_.size()) configs.push_back(space_.at(next_++));
  return configs;
}

void Exhaustive::tell(const space::Config&, Outcome, std::optional<double>) {}

}  // namespace tuner::search
