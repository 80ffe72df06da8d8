// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>

namespace tuner::backend {

/// Device memory that can be made read-only: a kernel's write into it is then an illegal address.
class ReadOnlyMemory {
 public:
  /// Writable memory of a device, of any content. Throws Error(failure) when memory is short.
  ReadOnlyMemory(int ordinal, std::size_t size_bytes);

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
