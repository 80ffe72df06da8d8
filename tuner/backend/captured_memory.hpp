// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/backend/executor.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace tuner::backend {

/// The graph memory that captures in progress have for one purpose: of the latest 16 pairs of a
/// capture and a stream. For one thread at a time.
class CapturedMemory {
 public:
  /// Null when the capture has none, or when it has left the list of the latest captures.
  [[nodiscard]] void* find(const StreamState& state) const {
    const auto found = std::ranges::find_if(latest_, [&](const Entry& it) {
      return it.memory != nullptr && it.stream == state.id && it.capture == *state.capture;
    });
    return found == latest_.end() ? nullptr : found->memory;
  }
  void put(const StreamState& state, void* memory) {
    latest_[next_] = {.stream = state.id, .capture = *state.capture, .memory = memory};
    next_ = (next_ + 1) % latest_.size();
  }

 private:
  struct Entry {
    std::uint64_t stream = 0, capture = 0;
    void* memory = nullptr;
  };
  std::array<Entry, 16> latest_;
  std::size_t next_ = 0;
};

}  // namespace tuner::backend
