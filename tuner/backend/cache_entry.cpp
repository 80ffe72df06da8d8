// SPDX-License-Identifier: Apache-2.0
#include "tuner/backend/cache_entry.hpp"

#include "tuner/core/hash.hpp"

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <span>

namespace tuner::backend {
namespace {

// Entries never leave the machine that made them, so numbers stand as it keeps them.
constexpr std::string_view kMagic = "tunebin\n";
constexpr std::uint64_t kVersion = 2;
constexpr std::size_t kNumbers = 3;  // version, bytes of the symbols, bytes of the image
constexpr std::size_t kChecksumBytes = 32;
constexpr std::size_t kHeaderBytes =
    kMagic.size() + kNumbers * sizeof(std::uint64_t) + kChecksumBytes;

void append(std::string& bytes, std::uint64_t number) {
  const auto raw = std::bit_cast<std::array<char, sizeof number>>(number);
  bytes.append(raw.data(), raw.size());
}

std::uint64_t number_at(std::string_view bytes, std::size_t index) {
  std::uint64_t number = 0;
  std::memcpy(&number, bytes.data() + kMagic.size() + index * sizeof number, sizeof number);
  return number;
}

std::string_view text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::string joined(const std::vector<std::string>& symbols) {
  std::string text;
  for (const std::string& symbol : symbols) text.append(symbol).push_back('\0');
  return text;
}

/// None when the last one has no end.
std::optional<std::vector<std::string>> separated(std::string_view text) {
  std::vector<std::string> symbols;
  while (!text.empty()) {
    const std::size_t end = text.find('\0');
    if (end == std::string_view::npos) return std::nullopt;
    symbols.emplace_back(text.substr(0, end));
    text.remove_prefix(end + 1);
  }
  return symbols;
}

}  // namespace

std::string encode_cache_entry(std::string_view key, const Binary& binary) {
  const std::string_view image = text_of(binary.image);
  const std::string symbols = joined(binary.symbols);
  std::string bytes(kMagic);
  bytes.reserve(kHeaderBytes + symbols.size() + image.size());
  append(bytes, kVersion);
  append(bytes, symbols.size());
  append(bytes, image.size());
  bytes += content_hash({key, symbols, image});
  bytes += symbols;
  bytes += image;
  return bytes;
}

std::optional<Binary> decode_cache_entry(std::string_view key, std::string_view bytes) {
  if (bytes.size() < kHeaderBytes || !bytes.starts_with(kMagic)) return std::nullopt;
  if (number_at(bytes, 0) != kVersion) return std::nullopt;
  const std::uint64_t symbol_bytes = number_at(bytes, 1);
  const std::string_view content = bytes.substr(kHeaderBytes);
  // In this order no sum can overflow.
  if (symbol_bytes > content.size()) return std::nullopt;
  if (number_at(bytes, 2) != content.size() - symbol_bytes) return std::nullopt;
  const std::string_view symbols = content.substr(0, symbol_bytes);
  const std::string_view image = content.substr(symbol_bytes);
  const std::string_view checksum = bytes.substr(kHeaderBytes - kChecksumBytes, kChecksumBytes);
  if (content_hash({key, symbols, image}) != checksum) return std::nullopt;
  auto names = separated(symbols);
  if (!names) return std::nullopt;
  const auto raw = std::as_bytes(std::span(image));
  return Binary{.image = {raw.begin(), raw.end()}, .symbols = *std::move(names)};
}

}  // namespace tuner::backend
