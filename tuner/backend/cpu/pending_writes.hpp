// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>

namespace tuner::backend {

/// What a block of threads wrote and no other block must see yet, byte by byte.
class PendingWrites {
 public:
  /// Before the bytes at an address are written. Addresses are of memory that lasts as long.
  void note(std::uintptr_t address, std::size_t size_bytes);
  /// The bytes at an address are seen by all from now on.
  void forget(std::uintptr_t address, std::size_t size_bytes);
  /// All bytes are.
  void forget() { words_.clear(); }
  /// The bytes of the word that was noted last are.
  void forget_newest();
  /// Exchanges what was written for what was there before, and the other way round.
  void exchange();

  /// Words of which bytes are pending.
  [[nodiscard]] std::size_t words() const { return words_.size(); }

 private:
  static constexpr std::size_t kWord = 8;
  /// Bytes of a word, those that are pending by the bits of a set.
  struct Word {
    std::uint8_t bytes[kWord];
    std::uint8_t pending = 0;
    std::uint64_t noted = 0;  ///< when it was last, by the number of notes
  };
  std::unordered_map<std::uintptr_t, Word> words_;  // by their addresses
  std::uint64_t notes_ = 0;
};

}  // namespace tuner::backend
