// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

namespace tuner {

/// A map from short lists of numbers to objects that it does not own. Any number of threads look up
/// without a lock, an allocation or a wait, while others put. Keys are never removed; memory is
/// freed with the map.
template <class Value>
class NumberMap {
 public:
  using Key = std::span<const std::int64_t>;

  NumberMap() { publish(std::make_unique<SlotArray>(kFirstSlots)); }

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
    SlotArray* slots = slots_.load(std::memory_order_relaxed);
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
  /// Odd numbers at random (SplitMix64 from 0).
  static constexpr std::array<std::uint64_t, 16> kFactors = {
      0xe220a8397b1dcdafu, 0x6e789e6aa1b965f5u, 0x06c45d188009454fu, 0xf88bb8a8724c81edu,
      0x1b39896a51a8749bu, 0x53cb9f0c747ea2ebu, 0x2c829abe1f4532e1u, 0xc584133ac916ab3du,
      0x3ee5789041c98ac3u, 0xf3b8488c368cb0a7u, 0x657eecdd3cb13d09u, 0xc2d326e0055bdef7u,
      0x8621a03fe0bbdb7bu, 0x8e1f7555983aa92fu, 0xb54e0f1600cc4d19u, 0x84bb3f97971d80abu};

  struct Entry {
    std::uint64_t hash = 0;
    std::vector<std::int64_t> key;
    std::atomic<Value*> value = nullptr;
  };
  struct SlotArray {
    explicit SlotArray(std::size_t count) : places(count) {}
    std::vector<std::atomic<Entry*>> places;  // open addressing, at most half full
  };

  /// Multilinear (Lemire and Kaser, The Computer Journal 57, 2014): products that wait for no
  /// other, of which the upper bits are good.
  static std::uint64_t hash_of(Key key) {
    std::uint64_t hash = key.size();
    for (std::size_t i = 0; i < key.size(); ++i) {
      hash += static_cast<std::uint64_t>(key[i]) * kFactors[i % kFactors.size()];
    }
    return hash ^ hash >> 32;
  }

  static Entry* find_entry(const SlotArray& slots, Key key, std::uint64_t hash) {
    const std::size_t mask = slots.places.size() - 1;
    for (std::size_t i = hash & mask;; i = (i + 1) & mask) {
      Entry* const entry = slots.places[i].load(std::memory_order_acquire);
      if (entry == nullptr) return nullptr;
      if (entry->hash == hash && std::ranges::equal(entry->key, key)) return entry;
    }
  }

  static void insert(SlotArray& slots, Entry& entry) {
    const std::size_t mask = slots.places.size() - 1;
    std::size_t i = entry.hash & mask;
    while (slots.places[i].load(std::memory_order_relaxed) != nullptr) i = (i + 1) & mask;
    slots.places[i].store(&entry, std::memory_order_release);
  }

  SlotArray* grow() {
    auto larger = std::make_unique<SlotArray>(2 * kept_.back()->places.size());
    for (const auto& entry : entries_) insert(*larger, *entry);
    return publish(std::move(larger));
  }

  SlotArray* publish(std::unique_ptr<SlotArray> slots) {
    kept_.push_back(std::move(slots));
    slots_.store(kept_.back().get(), std::memory_order_release);
    return kept_.back().get();
  }

  std::atomic<SlotArray*> slots_ = nullptr;
  std::mutex mutex_;                              // of those who put
  std::vector<std::unique_ptr<SlotArray>> kept_;  // a thread may still look into the smaller ones
  std::vector<std::unique_ptr<Entry>> entries_;
};

}  // namespace tuner
