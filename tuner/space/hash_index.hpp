// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace tuner::space {

/// Mixes one more number into a hash.
[[nodiscard]] constexpr std::uint64_t mixed(std::uint64_t hash, std::uint64_t value) {
  constexpr std::uint64_t kOdd = 0x9e3779b97f4a7c15;
  hash = (hash ^ value) * kOdd;
  return hash ^ (hash >> 29);
}

/// Finds the number of an object that the caller stores: an open-addressing table of eight bytes
/// for each place. The caller compares the objects.
class HashIndex {
 public:
  template <class IsIt>
  [[nodiscard]] std::optional<std::uint32_t> find(std::uint64_t hash, IsIt is_it) const {
    for (std::size_t place = start(hash); places_[place].number != kFree;
         place = (place + 1) & (places_.size() - 1)) {
      if (places_[place].tag == tag(hash) && is_it(places_[place].number)) {
        return places_[place].number;
      }
    }
    return std::nullopt;
  }

  /// `number` must not be the largest one.
  void insert(std::uint64_t hash, std::uint32_t number) {
    if (++used_ * 2 > places_.size()) grow();
    put({tag(hash), number});
  }

 private:
  static constexpr std::uint32_t kFree = 0xffffffff;
  struct Place {
    std::uint32_t tag = 0;
    std::uint32_t number = kFree;
  };

  static std::uint32_t tag(std::uint64_t hash) { return static_cast<std::uint32_t>(hash >> 32); }
  std::size_t start(std::uint64_t hash) const { return tag(hash) & (places_.size() - 1); }

  void put(Place entry) {
    std::size_t place = entry.tag & (places_.size() - 1);
    while (places_[place].number != kFree) place = (place + 1) & (places_.size() - 1);
    places_[place] = entry;
  }
  void grow() {
    std::vector<Place> before(places_.size() * 4);
    before.swap(places_);
    for (const Place& entry : before) {
      if (entry.number != kFree) put(entry);
    }
  }

  std::vector<Place> places_{std::vector<Place>(16)};  // a power of two
  std::size_t used_ = 0;
};

}  // namespace tuner::space
