// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

namespace tuner::backend {

/// Device memory that can be made read-only: a kernel's write into it is then an illegal address.
class ReadOnlyMemory {
 public:
  /// Writable memory of a device, all of it copies of a 32-bit pattern. Throws Error(failure) when
  /// memory is short.
  ReadOnlyMemory(int ordinal, std::size_t size_bytes, std::uint32_t pattern);

  /// Whether the device has such memory.
  [[nodiscard]] static bool is_supported(int ordinal);

  [[nodiscard]] std::byte* get() const;
  /// No kernel may write it from now on.
  void protect();

 private:
  class Mapping;
  struct Unmap {
    void operator()(Mapping* mapping) const noexcept;
  };
  std::unique_ptr<Mapping, Unmap> mapping_;
};

}  // namespace tuner::backend
