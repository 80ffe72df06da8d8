// SPDX-License-Identifier: Apache-2.0
#include "tuner/search/exhaustive.hpp"

namespace tuner {

std::vector<Config> Exhaustive::ask(std::size_t count, Budget) {
  std::vector<Config> configs;
  while (configs.size() < count && next_ < space_.size()) configs.push_back(space_.at(next_++));
  return configs;
}

void Exhaustive::tell(const Config&, Outcome, std::optional<double>) {}

}  // namespace tuner
