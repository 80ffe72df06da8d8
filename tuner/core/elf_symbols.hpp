// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace tuner {

/// A symbol that an ELF image defines: a cubin, or a shared object of the host.
struct ElfSymbol {
  enum class Kind { variable, thread_local_variable, other };
  std::string_view name;     ///< in the image
  std::string_view section;  ///< that it lies in; empty where it has none
  Kind kind = Kind::other;
  bool is_writable = false;  ///< as its section is
  std::uint64_t value = 0;   ///< in a shared object: the distance from where it is loaded
  std::uint64_t size_bytes = 0;
};

/// The symbols of an image, which must outlive them; none of what is no ELF image of 64 bits or is
/// damaged.
[[nodiscard]] std::vector<ElfSymbol> elf_symbols(std::span<const std::byte> image);

}  // namespace tuner
