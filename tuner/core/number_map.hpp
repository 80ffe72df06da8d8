// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

namespace tuner {

/// A map from short lists of numbers to objects that others own. Any number of threads look up
/// without a lock, an allocation or a wait, while others put. Keys are never removed; memory is
/// given back when the map goes.
template <class Value>
class NumberMap {
 public:
  using Key = std::span<const std::int64_t>;

  NumberMap() { publish(std::make_unique<Slots>(kFirstSlots)); }

  /// Null when nothing was put under the key.
  [[nodiscard]] Value* find(Key key) const {
    const std::uint64_t hash = hash_of(key);
    const Entry* const entry = find_entry(*slots_.load(std::memory_order_acquire), key, hash);
    return entry == nullptr ? nullptr : entry->value.load(std::memory_order_acquire);
  }

  /// Replaces what was there.
  void put(Key key, Value* value) {
    const std::scoped_lock lock(mutex_);
    const std::uint64_t hash = hash_of(key);
    Slots* slots = slots_.load(std::memory_order_relaxed);
    if (Entry* const known = find_entry(*slots, key, hash)) {
      known->value.store(value, std::memory_order_release);
      return;
    }
    if (2 * (entries_.size() + 1) > slots->places.size()) slots = grow();
    auto entry = std::make_unique<Entry>();
    entry->hash = hash;
    entry->key.assign(key.begin(), key.end());
    entry->value.store(value, std::memory_order_relaxed);
    insert(*slots, *entry);
    entries_.push_back(std::move(entry));
  }

 private:
  static constexpr std::size_t kFirstSlots = 64;  // powers of two

  struct Entry {
    std::uint64_t hash = 0;
    std::vector<std::int64_t> key;
    std::atomic<Value*> value = nullptr;
  };
  struct Slots {
    explicit Slots(std::size_t count) : places(count) {}
    std::vector<std::atomic<Entry*>> places;  // open addressing, at most half full
  };

  static std::uint64_t hash_of(Key key) {
    std::uint64_t hash = key.size();
    for (const std::int64_t number : key) {
      hash = (std::rotl(hash, 23) ^ static_cast<std::uint64_t>(number)) * 0x9e3779b97f4a7c15u;
    }
    return hash ^ hash >> 32;
  }

  static Entry* find_entry(const Slots& slots, Key key, std::uint64_t hash) {
    const std::size_t mask = slots.places.size() - 1;
    for (std::size_t i = hash & mask;; i = (i + 1) & mask) {
      Entry* const entry = slots.places[i].load(std::memory_order_acquire);
      if (entry == nullptr) return nullptr;
      if (entry->hash == hash && std::ranges::equal(entry->key, key)) return entry;
    }
  }

  static void insert(Slots& slots, Entry& entry) {
    const std::size_t mask = slots.places.size() - 1;
    std::size_t i = entry.hash & mask;
    while (slots.places[i].load(std::memory_order_relaxed) != nullptr) i = (i + 1) & mask;
    slots.places[i].store(&entry, std::memory_order_release);
  }

  Slots* grow() {
    auto larger = std::make_unique<Slots>(2 * kept_.back()->places.size());
    for (const auto& entry : entries_) insert(*larger, *entry);
    return publish(std::move(larger));
  }

  Slots* publish(std::unique_ptr<Slots> slots) {
    kept_.push_back(std::move(slots));
    slots_.store(kept_.back().get(), std::memory_order_release);
    return kept_.back().get();
  }

  std::atomic<Slots*> slots_ = nullptr;
  std::mutex mutex_;                          // of those who put
  std::vector<std::unique_ptr<Slots>> kept_;  // a thread may still look into the smaller ones
  std::vector<std::unique_ptr<Entry>> entries_;
};

}  // namespace tuner
