// SPDX-License-Identifier: Apache-2.0
#include "tuner/core/hash.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <sha2.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <array>
#include <cstdint>

namespace tuner {

std::string content_hash(std::span<const std::string_view> parts) {
  XXH3_state_t state;
  XXH3_INITSTATE(&state);
  XXH3_128bits_reset(&state);
  for (const std::string_view part : parts) {
    const std::uint64_t length = part.size();
    XXH3_128bits_update(&state, &length, sizeof length);
    XXH3_128bits_update(&state, part.data(), part.size());
  }
  const XXH128_hash_t hash = XXH3_128bits_digest(&state);
  std::string digits(32, '0');
  for (std::size_t i = 0; i < 16; ++i) {
    digits[15 - i] = "0123456789abcdef"[hash.high64 >> 4 * i & 15U];
    digits[31 - i] = "0123456789abcdef"[hash.low64 >> 4 * i & 15U];
  }
  return digits;
}

std::string content_hash(std::initializer_list<std::string_view> parts) {
  return content_hash(std::span(parts.begin(), parts.size()));
}

std::string sha256(std::span<const std::string_view> parts) {
  SHA2_CTX state;
  SHA256Init(&state);
  const auto update = [&](const void* bytes, std::size_t count) {
    SHA256Update(&state, static_cast<const std::uint8_t*>(bytes), count);
  };
  for (const std::string_view part : parts) {
    const std::uint64_t length = part.size();
    update(&length, sizeof length);
    update(part.data(), part.size());
  }
  std::array<std::uint8_t, SHA256_DIGEST_LENGTH> digest{};
  SHA256Final(digest.data(), &state);
  return fmt::format("{:02x}", fmt::join(digest, ""));
}

}  // namespace tuner
