// SPDX-License-Identifier: Apache-2.0
// What a cubin says of its kernels, where no device is there to load it.
#pragma once

#include "tuner/backend/backend.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <elf.h>
#include <span>
#include <stdexcept>
#include <string_view>

namespace tuner::testing_support {

namespace detail {

template <class T>
T read_at(std::span<const std::byte> image, std::size_t at) {
  if (at > image.size() || image.size() - at < sizeof(T)) {
    throw std::out_of_range("not a whole cubin");
  }
  T value;
  std::memcpy(&value, image.data() + at, sizeof value);
  return value;
}

/// The content of the section of this name; empty when there is none.
inline std::span<const std::byte> section(std::span<const std::byte> image, std::string_view name) {
  const auto file = read_at<Elf64_Ehdr>(image, 0);
  const auto header = [&](std::size_t index) {
    return read_at<Elf64_Shdr>(image, file.e_shoff + index * file.e_shentsize);
  };
  const Elf64_Off names = header(file.e_shstrndx).sh_offset;
  for (std::size_t i = 0; i < file.e_shnum; ++i) {
    const Elf64_Shdr each = header(i);
    const char* const its_name = reinterpret_cast<const char*>(image.data()) + names + each.sh_name;
    if (name == its_name) return image.subspan(each.sh_offset, each.sh_size);
  }
  return {};
}

}  // namespace detail

/// Bytes of local memory that a thread of the cubin's only kernel has on its stack: what is
/// spilled, and arrays that are not in registers. Throws std::out_of_range when it does not say.
inline std::uint32_t stack_bytes(const backend::Binary& binary) {
  struct Attribute {
    std::uint8_t format, kind;
    std::uint16_t bytes;
  };
  constexpr std::uint8_t kSized = 4;       // EIFMT_SVAL: `bytes` of content follow
  constexpr std::uint8_t kFrameSize = 17;  // EIATTR_FRAME_SIZE: a symbol and its bytes
  const std::span<const std::byte> info =
      detail::section(std::as_bytes(std::span(binary.image)), ".nv.info");
  for (std::size_t at = 0;;) {
    const auto attribute = detail::read_at<Attribute>(info, at);
    at += sizeof attribute;
    if (attribute.format != kSized) continue;
    if (attribute.kind == kFrameSize) return detail::read_at<std::uint32_t>(info, at + 4);
    at += attribute.bytes;
  }
}

}  // namespace tuner::testing_support
