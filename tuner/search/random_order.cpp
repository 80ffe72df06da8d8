// SPDX-License-Identifier: Apache-2.0
#include "tuner/search/random_order.hpp"

namespace tuner::search {

std::vector<space::Config> Exhaustive::ask(std::size_t count, Budget) {
  std::vector<space::Config> configs;
  while (configs.size() < count && next_ < space_.size()) configs.push_back(space_.at(next_++));
  return configs;
}

void Exhaustive::tell(const space::Config&, Outcome, std::optional<double>) {}

std::uint64_t RandomOrder::draw() {
  std::uniform_int_distribution<std::uint64_t> places(drawn_, space_.size() - 1);
  const std::uint64_t place = places(random_);
  const auto at = [&](std::uint64_t where) {
    const auto moved = moved_.find(where);
    return moved == moved_.end() ? where : moved->second;
  };
  const std::uint64_t position = at(place);
  moved_[place] = at(drawn_);
  moved_.erase(drawn_);
  ++drawn_;
  return position;
}

std::vector<space::Config> RandomOrder::ask(std::size_t count, Budget) {
  std::vector<space::Config> configs;
  while (configs.size() < count && drawn_ < space_.size()) configs.push_back(space_.at(draw()));
  return configs;
}

void RandomOrder::tell(const space::Config&, Outcome, std::optional<double>) {}

}  // namespace tuner::search
