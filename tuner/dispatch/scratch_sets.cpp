// SPDX-License-Identifier: Apache-2.0
#include "tuner/dispatch/scratch_sets.hpp"

#include <array>
#include <numeric>
#include <tuple>
#include <utility>

namespace tuner {
namespace {

constexpr std::size_t kSpares = 2;
constexpr std::size_t kLargestSpareBytes = std::size_t{64} << 20;

}  // namespace

const ScratchSets::Set* ScratchSets::on(const StreamState& state) {
  const std::array<std::int64_t, 2> key = {
      static_cast<std::int64_t>(state.id),
      state.capture ? static_cast<std::int64_t>(*state.capture) : -1};
  if (const Set* const known = by_stream_.find(key)) return known;
  const std::scoped_lock lock(mutex_);
  if (const Set* const known = by_stream_.find(key)) return known;
  const Set* set = nullptr;
  if (!state.capture) {
    set = make();
  } else if (!spare_.empty()) {
    set = spare_.back();
    spare_.pop_back();
  }
  if (set != nullptr) by_stream_.put(key, set);
  return set;
}

void ScratchSets::prepare() {
  const std::scoped_lock lock(mutex_);
  const std::size_t total =
      std::accumulate(buffer_bytes_.begin(), buffer_bytes_.end(), std::size_t{0});
  if (total > kLargestSpareBytes) return;
  while (spare_.size() < kSpares) {
    const Set* const set = make();
    if (set == nullptr) return;
    spare_.push_back(set);
  }
}

const ScratchSets::Set* ScratchSets::make() {
  Set set;
  std::vector<std::shared_ptr<void>> buffers;
  for (const std::size_t bytes : buffer_bytes_) {
    auto memory = executor_.memory(bytes);
    if (!memory) return nullptr;
    buffers.push_back(*std::move(memory));
    set.push_back(reinterpret_cast<std::uintptr_t>(buffers.back().get()));
  }
  memory_.insert(memory_.end(), buffers.begin(), buffers.end());
  sets_.push_back(std::make_unique<const Set>(std::move(set)));
  return sets_.back().get();
}

ScratchSets& ScratchPool::sets(const std::string& owner,
                               const std::vector<std::size_t>& buffer_bytes) {
  const std::scoped_lock lock(mutex_);
  return sets_
      .emplace(std::piecewise_construct, std::forward_as_tuple(owner),
               std::forward_as_tuple(executor_, buffer_bytes))
      .first->second;
}

}  // namespace tuner
