// SPDX-License-Identifier: Apache-2.0
#include "tuner/backend/cpu/pending_writes.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace tuner::backend {
namespace {

std::uint8_t* byte_at(std::uintptr_t address) {
  return reinterpret_cast<std::uint8_t*>(address);
}

}  // namespace

void PendingWrites::note(std::uintptr_t address, std::size_t size_bytes) {
  for (const std::uintptr_t end = address + size_bytes; address < end;) {
    const std::uintptr_t begin = address / kWord * kWord;
    Word& word = words_[begin];
    word.noted = ++notes_;
    for (; address < end && address < begin + kWord; ++address) {
      const auto i = static_cast<unsigned>(address - begin);
      if ((word.pending >> i & 1U) != 0) continue;
      word.bytes[i] = *byte_at(address);
      word.pending = static_cast<std::uint8_t>(word.pending | 1U << i);
    }
  }
}

void PendingWrites::forget(std::uintptr_t address, std::size_t size_bytes) {
  for (const std::uintptr_t end = address + size_bytes; address < end;) {
    const std::uintptr_t begin = address / kWord * kWord;
    const auto word = words_.find(begin);
    for (; address < end && address < begin + kWord; ++address) {
      if (word == words_.end()) continue;
      word->second.pending =
          static_cast<std::uint8_t>(word->second.pending & ~(1U << (address - begin)));
    }
    if (word != words_.end() && word->second.pending == 0) words_.erase(word);
  }
}

void PendingWrites::forget_newest() {
  const auto newest =
      std::ranges::max_element(words_, {}, [](const auto& word) { return word.second.noted; });
  if (newest != words_.end()) words_.erase(newest);
}

void PendingWrites::exchange() {
  for (auto& [begin, word] : words_) {
    for (unsigned rest = word.pending; rest != 0; rest &= rest - 1) {
      const auto i = static_cast<unsigned>(std::countr_zero(rest));
      std::swap(word.bytes[i], *byte_at(begin + i));
    }
  }
}

}  // namespace tuner::backend
