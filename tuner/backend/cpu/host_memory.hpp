// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/backend/backend.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

namespace tuner::backend {

/// Zeroed pages between gigabytes of read-only addresses: a kernel that writes far outside its
/// buffers faults at once instead of changing memory of this process.
class MarginedMemory {
 public:
  /// `data` is null when the system does not provide the bytes.
  explicit MarginedMemory(std::size_t size_bytes);
  ~MarginedMemory();
  MarginedMemory(MarginedMemory&& other) noexcept;
  MarginedMemory& operator=(MarginedMemory&&) = delete;

  [[nodiscard]] std::byte* data() const { return data_; }

 private:
  std::span<std::byte> mapping_;
  std::byte* data_ = nullptr;
};

/// Buffers in the host's memory, aligned as cudaMalloc aligns them.
class HostMemory {
 public:
  /// `limit_bytes` is the most that all buffers together may take.
  explicit HostMemory(std::size_t limit_bytes) : limit_bytes_(limit_bytes) {}

  /// Throws Error(failure) with sizes when there is not enough.
  [[nodiscard]] BufferId allocate(std::size_t size_bytes);
  void release(BufferId buffer);
  /// The address of a region of which `size_bytes` are going to be used. Throws Error(failure) when
  /// there is no such buffer or it has fewer from there on.
  [[nodiscard]] std::byte* data(Region region, std::size_t size_bytes) const;
  /// All buffers, in the order of addresses.
  [[nodiscard]] std::vector<std::span<std::byte>> all() const;

 private:
  struct Buffer {
    MarginedMemory memory;
    std::size_t size_bytes = 0;
  };

  std::size_t limit_bytes_;
  std::size_t used_bytes_ = 0;
  std::uint64_t last_id_ = 0;
  std::map<BufferId, Buffer> buffers_;
};

}  // namespace tuner::backend
