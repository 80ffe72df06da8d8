// SPDX-License-Identifier: Apache-2.0
// What a cubin says of its kernels, where no device is there to load it.
#pragma once

#include "tuner/backend/backend.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <elf.h>
#include <optional>
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

/// Calls what(name, header) of each section.
template <class What>
void for_each_section(std::span<const std::byte> image, const What& what) {
  const auto file = read_at<Elf64_Ehdr>(image, 0);
  const auto header = [&](std::size_t index) {
    return read_at<Elf64_Shdr>(image, file.e_shoff + index * file.e_shentsize);
  };
  const Elf64_Off names = header(file.e_shstrndx).sh_offset;
  for (std::size_t i = 0; i < file.e_shnum; ++i) {
    const Elf64_Shdr each = header(i);
    what(std::string_view(reinterpret_cast<const char*>(image.data()) + names + each.sh_name),
         each);
  }
}

/// The largest value of an attribute of functions that .nv.info has. Throws std::out_of_range where
/// it has none.
inline std::uint32_t largest_of_functions(const backend::Binary& binary, std::uint8_t kind) {
  struct Attribute {
    std::uint8_t format, kind;
    std::uint16_t bytes;
  };
  constexpr std::uint8_t kSized = 4;  // EIFMT_SVAL: `bytes` of content follow
  const std::span<const std::byte> image = std::as_bytes(std::span(binary.image));
  std::span<const std::byte> info;
  for_each_section(image, [&](std::string_view name, const Elf64_Shdr& header) {
    if (name == ".nv.info") info = image.subspan(header.sh_offset, header.sh_size);
  });
  std::optional<std::uint32_t> largest;
  for (std::size_t at = 0; at < info.size();) {
    const auto attribute = read_at<Attribute>(info, at);
    at += sizeof attribute;
    if (attribute.format != kSized) continue;
    if (attribute.kind == kind) {  // a symbol and the value
      largest = std::max(largest.value_or(0), read_at<std::uint32_t>(info, at + 4));
    }
    at += attribute.bytes;
  }
  if (!largest) throw std::out_of_range("a cubin that does not say");
  return *largest;
}

}  // namespace detail

/// Bytes of local memory that a thread of the cubin's kernels has on its stack, at most: what is
/// spilled, and arrays that are not in registers. Throws std::out_of_range when it does not say.
inline std::uint32_t stack_bytes(const backend::Binary& binary) {
  constexpr std::uint8_t kFrameSize = 17;  // EIATTR_FRAME_SIZE
  return detail::largest_of_functions(binary, kFrameSize);
}

/// Registers of a thread of the cubin's kernels, at most.
inline std::uint32_t registers(const backend::Binary& binary) {
  constexpr std::uint8_t kRegisterCount = 47;  // EIATTR_REGCOUNT
  return detail::largest_of_functions(binary, kRegisterCount);
}

/// Static shared memory of a block of the cubin's kernels, at most, in bytes. From compute
/// capability 9.0 on a section begins with the 1,024 bytes that CUDA reserves of each block, beside
/// the limit of a block: on an H200 (limit 232,448) one of 231,480 dynamic bytes runs.
inline std::uint64_t static_shared_bytes(const backend::Binary& binary,
                                         std::int64_t compute_capability) {
  const std::uint64_t reserved = compute_capability >= 90 ? 1024 : 0;
  std::uint64_t largest = 0;
  detail::for_each_section(
      std::as_bytes(std::span(binary.image)), [&](std::string_view name, const auto& header) {
        if (name.starts_with(".nv.shared.") && !name.starts_with(".nv.shared.reserved")) {
          largest = std::max<std::uint64_t>(largest, header.sh_size);
        }
      });
  return std::max(largest, reserved) - reserved;
}

}  // namespace tuner::testing_support
