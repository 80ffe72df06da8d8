// SPDX-License-Identifier: Apache-2.0
#include "tuner/core/printable.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace tuner {
namespace {

struct Character {
  std::uint32_t code = 0;
  std::size_t bytes = 0;  ///< 0: no UTF-8
};

Character first_character(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  if (byte(0) < 0x80) return {byte(0), 1};
  const std::size_t bytes = byte(0) >= 0xf0 ? 4 : byte(0) >= 0xe0 ? 3 : 2;
  if (byte(0) < 0xc2 || byte(0) > 0xf4 || text.size() < bytes) return {};
  std::uint32_t code = byte(0) & (0xffU >> (bytes + 1));
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return {};
    code = code << 6 | (byte(i) & 0x3fU);
  }
  // Longer than need be, half of a UTF-16 pair, beyond Unicode.
  const bool overlong = (bytes == 3 && code < 0x800) || (bytes == 4 && code < 0x10000);
  if (overlong || (code >= 0xd800 && code <= 0xdfff) || code > 0x10ffff) return {};
  return {code, bytes};
}

/// Whether a character is no sign but a command: to a terminal, of writing direction, of no width.
bool is_acted_upon(std::uint32_t code) {
  struct Range {
    std::uint32_t first, last;
  };
  constexpr Range kRanges[] = {{0x00, 0x1f},     {0x7f, 0x9f},     {0x61c, 0x61c},
                               {0x200b, 0x200f}, {0x2028, 0x202e}, {0x2060, 0x206f},
                               {0xfeff, 0xfeff}};
  return std::ranges::any_of(
      kRanges, [&](const Range& range) { return range.first <= code && code <= range.last; });
}

/// `kept`: characters that are not escaped, though a terminal acts upon them.
std::string with_escapes(std::string_view text, std::string_view kept) {
  std::string result;
  while (!text.empty()) {
    const Character next = first_character(text);
    const std::size_t bytes = next.bytes == 0 ? 1 : next.bytes;
    if (next.bytes == 0) {
      result += fmt::format("\\x{:02x}", static_cast<unsigned char>(text[0]));
    } else if (is_acted_upon(next.code) && kept.find(text[0]) == std::string_view::npos) {
      result += next.code < 0x80 ? fmt::format("\\x{:02x}", next.code)
                                 : fmt::format("\\u{:04x}", next.code);
    } else {
      result += text.substr(0, bytes);
    }
    text.remove_prefix(bytes);
  }
  return result;
}

}  // namespace

std::string printable(std::string_view text) {
  return with_escapes(text, "\n\t");
}

std::string printable_name(std::string_view name) {
  return with_escapes(name, "");
}

std::string as_utf8(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const std::size_t bytes = first_character(text).bytes;
    if (bytes == 0) {
      const auto code = static_cast<unsigned char>(text[0]);
      result += static_cast<char>(0xc0 | code >> 6);
      result += static_cast<char>(0x80 | (code & 0x3f));
    } else {
      result += text.substr(0, bytes);
    }
    text.remove_prefix(bytes == 0 ? 1 : bytes);
  }
  return result;
}

}  // namespace tuner
