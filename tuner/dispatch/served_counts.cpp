// SPDX-License-Identifier: Apache-2.0
#include "tuner/dispatch/served_counts.hpp"

namespace tuner::dispatch {

std::uint64_t ServedCounter::launches() const {
  std::uint64_t sum = 0;
  for (const Shard& shard : launches_) sum += shard.count.load(std::memory_order_relaxed);
  return sum;
}

ServedCounter& ServedCounts::of(const std::string& family, Rung rung, SizeKnowledge knowledge) {
  const std::scoped_lock lock(mutex_);
  auto& counter = counters_[{family, rung, knowledge}];
  if (counter == nullptr) counter = std::make_unique<ServedCounter>();
  return *counter;
}

std::vector<Served> ServedCounts::all() const {
  std::vector<Served> all;
  const std::scoped_lock lock(mutex_);
  for (const auto& [key, counter] : counters_) {
    const auto& [family, rung, knowledge] = key;
    if (counter->launches() == 0) continue;
    all.push_back({.family = family,
                   .rung = rung,
                   .is_tuned = knowledge == SizeKnowledge::tuned,
                   .sizes = counter->sizes(),
                   .launches = counter->launches()});
  }
  return all;
}

}  // namespace tuner::dispatch
