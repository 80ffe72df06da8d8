// SPDX-License-Identifier: Apache-2.0
#include "tuner/verify/reference_zones.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <span>
#include <vector>

namespace tuner::verify {
namespace {

/// A number, since a NaN remains when a number is added to it.
constexpr std::uint32_t kZoneWord = 0x3FB50481U;

/// As large as candidates' guard zones, whole multiples of what allocations are aligned to.
std::size_t zone_bytes(const CheckedData& data) {
  constexpr std::size_t kStep = 256, kLeastBytes = std::size_t{4} << 10,
                        kMostBytes = std::size_t{1} << 20;
  return std::clamp(data.size_bytes() / 8, kLeastBytes, kMostBytes) / kStep * kStep;
}

std::vector<std::uint32_t> words_of(const backend::Backend& backend, backend::Region region,
                                    std::size_t size_bytes) {
  // A backend without memory, as tests have, reads nothing.
  std::vector<std::uint32_t> words(size_bytes / sizeof(std::uint32_t), kZoneWord);
  backend.read(region, std::as_writable_bytes(std::span(words)));
  return words;
}

bool is_changed(std::uint32_t word) {
  return word != kZoneWord;
}

}  // namespace

ZonedBuffer::ZonedBuffer(backend::Backend& backend, const CheckedData& data)
    : buffer(backend, data.offset_bytes() + data.size_bytes() + 2 * zone_bytes(data)),
      region{buffer.id(), zone_bytes(data) + data.offset_bytes()} {
  backend.fill(buffer.id(), kZoneWord, region.offset_bytes);
  backend.fill({buffer.id(), region.offset_bytes + data.size_bytes()}, kZoneWord, zone_bytes(data));
}

std::optional<std::int64_t> element_outside(const backend::Backend& backend, backend::Region region,
                                            const CheckedData& data,
                                            std::optional<std::uint32_t> filled) {
  const std::size_t zone = zone_bytes(data);
  const std::size_t element = family::element_bytes(data.type);
  if (filled && data.used < data.count) {
    const std::size_t used = static_cast<std::size_t>(data.used) * element;
    const auto content = std::bit_cast<std::array<std::byte, sizeof *filled>>(*filled);
    std::vector<std::byte> rest(data.size_bytes() - used);
    for (std::size_t i = 0; i < rest.size(); ++i) rest[i] = content[(used + i) % content.size()];
    const std::vector<std::byte> before = rest;
    backend.read({region.buffer, region.offset_bytes + used}, rest);
    const auto first = std::ranges::mismatch(before, rest).in1;
    if (first != before.end()) {
      return data.used +
             static_cast<std::int64_t>(static_cast<std::size_t>(first - before.begin()) / element);
    }
  }
  const auto behind =
      words_of(backend, {region.buffer, region.offset_bytes + data.size_bytes()}, zone);
  if (const auto first = std::ranges::find_if(behind, is_changed); first != behind.end()) {
    const auto bytes = static_cast<std::size_t>(first - behind.begin()) * sizeof *first;
    return data.count + static_cast<std::int64_t>(bytes / element);
  }
  auto before = words_of(backend, {region.buffer, region.offset_bytes - zone}, zone);
  std::ranges::reverse(before);
  if (const auto last = std::ranges::find_if(before, is_changed); last != before.end()) {
    const auto bytes = static_cast<std::size_t>(last - before.begin()) * sizeof *last;
    return -1 - static_cast<std::int64_t>(bytes / element);
  }
  return std::nullopt;
}

bool are_zero(const backend::Backend& backend, backend::Region region, const CheckedData& data) {
  constexpr std::size_t kChunk = std::size_t{1} << 16;  // most outputs differ in the first
  const std::size_t element = family::element_bytes(data.type);
  const std::byte sign{family::is_floating(data.type) ? std::uint8_t{0x80} : std::uint8_t{0}};
  std::size_t left = static_cast<std::size_t>(data.used) * element;
  std::vector<std::byte> bytes;
  for (; left > 0; left -= bytes.size(), region.offset_bytes += bytes.size()) {
    bytes.resize(std::min(kChunk, left));
    backend.read(region, bytes);
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      const bool has_sign = i % element == element - 1;
      if ((has_sign ? bytes[i] & ~sign : bytes[i]) != std::byte{0}) return false;
    }
  }
  return true;
}

}  // namespace tuner::verify
