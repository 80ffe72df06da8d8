// SPDX-License-Identifier: Apache-2.0
#include "tuner/dispatch/scratch_sets.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

namespace tuner::dispatch {
namespace {

constexpr std::size_t kAlignment = 256;
constexpr std::size_t kSmallestBlockBytes = 4096;

std::size_t aligned(std::size_t size_bytes) {
  return (size_bytes + kAlignment - 1) / kAlignment * kAlignment;
}

/// Powers of two: beyond `kept_bytes` a stream has at most one block of each size.
std::size_t block_bytes(std::size_t size_bytes) {
  return std::bit_ceil(std::max(size_bytes, kSmallestBlockBytes));
}

std::array<std::int64_t, 1> key(std::uint64_t stream_id) {
  return {static_cast<std::int64_t>(stream_id)};
}

}  // namespace

ScratchSets::ScratchSets(ScratchPool& pool, const std::vector<std::size_t>& buffer_bytes)
    : pool_(pool) {
  for (const std::size_t bytes : buffer_bytes) {
    offsets_.push_back(size_bytes_);
    size_bytes_ += aligned(bytes);
  }
}

ScratchSets::~ScratchSets() {
  pool_.disown(*this);
}

void ScratchSets::write(const void* begin, std::uint64_t* addresses) const {
  for (const std::size_t offset : offsets_) {
    *addresses++ = reinterpret_cast<std::uintptr_t>(begin) + offset;
  }
}

bool ScratchSets::find(const backend::StreamState& state, std::uint64_t* addresses) const {
  const void* begin = nullptr;
  if (!state.capture) {
    begin = by_stream_.find(key(state.id));
  } else {
    const std::scoped_lock lock(mutex_);
    begin = captured_.find(state);
  }
  if (begin == nullptr) return false;
  write(begin, addresses);
  return true;
}

Expected<void, Failure> ScratchSets::provide(const backend::StreamState& state,
                                             backend::StreamHandle stream) {
  if (!state.capture) return pool_.provide(*this, state.id, stream);
  const auto memory = pool_.executor_.graph_memory(size_bytes_, stream);
  if (!memory) return Unexpected(memory.error());
  const std::scoped_lock lock(mutex_);
  captured_.put(state, *memory);
  return {};
}

ScratchPool::Block* ScratchPool::spare_block(Blocks& blocks, std::size_t size_bytes) {
  Block* best = nullptr;
  const auto rank = [](const Block& it) { return it.owner == nullptr ? 0 : it.taken; };
  for (Block& block : blocks) {
    if (block.size_bytes < size_bytes) continue;
    if (best == nullptr || rank(block) < rank(*best)) best = &block;
  }
  return best;
}

ScratchPool::Block* ScratchPool::grow(Blocks& blocks, std::size_t size_bytes) {
  auto memory = executor_.memory(block_bytes(size_bytes));
  if (!memory) return nullptr;
  return &blocks.emplace_back(
      Block{.memory = *std::move(memory), .size_bytes = block_bytes(size_bytes)});
}

Expected<void, Failure> ScratchPool::take_away(Block& block, std::uint64_t stream_id,
                                               std::size_t size_bytes,
                                               backend::StreamHandle stream) {
  if (block.owner != nullptr) {
    block.owner->by_stream_.put(key(stream_id), nullptr);
    block.owner = nullptr;
    reclaimer_.wait();  // for launches that hold its address; later work is ordered after them
  }
  return executor_.clear(block.memory.get(), size_bytes, stream);
}

Expected<void, Failure> ScratchPool::provide(ScratchSets& sets, std::uint64_t stream_id,
                                             backend::StreamHandle stream) {
  const std::scoped_lock lock(mutex_);
  if (sets.by_stream_.find(key(stream_id)) != nullptr) return {};  // by another thread meanwhile
  Blocks& blocks = by_stream_[stream_id];
  std::size_t held_bytes = block_bytes(sets.size_bytes_);
  for (const Block& block : blocks) held_bytes += block.size_bytes;
  Block* const spare = spare_block(blocks, sets.size_bytes_);
  const bool is_free = spare != nullptr && spare->owner == nullptr;
  Block* block = nullptr;
  if (!is_free && (spare == nullptr || held_bytes <= kept_bytes_)) {
    block = grow(blocks, sets.size_bytes_);
  }
  if (block == nullptr && spare != nullptr) {
    block = spare;
    auto done = take_away(*block, stream_id, sets.size_bytes_, stream);
    if (!done) return done;
  }
  if (block == nullptr) {
    return Unexpected(Failure{.outcome = Outcome::launch_error,
                              .message = "no device memory is left for its scratch buffers",
                              .is_transient = true});
  }
  block->owner = &sets;
  block->taken = ++takes_;
  sets.by_stream_.put(key(stream_id), block->memory.get());
  return {};
}

void ScratchPool::disown(const ScratchSets& sets) {
  const std::scoped_lock lock(mutex_);
  for (auto& [stream, blocks] : by_stream_) {
    for (Block& block : blocks) {
      if (block.owner == &sets) block.owner = nullptr;
    }
  }
}

}  // namespace tuner::dispatch
