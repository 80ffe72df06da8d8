// SPDX-License-Identifier: Apache-2.0
#include "tuner/search/population.hpp"

#include <algorithm>
#include <cmath>

namespace tuner::search {

void Population::add(const space::Config& config, Loss loss) {
  std::erase_if(members_, [&](const Member& member) { return member.config == config; });
  if (!std::isfinite(loss)) return;
  const auto place = std::ranges::upper_bound(members_, loss, {}, &Member::loss);
  members_.insert(place, {.config = config, .loss = loss});
  if (members_.size() > capacity_) members_.pop_back();
}

}  // namespace tuner::search
