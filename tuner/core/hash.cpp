// SPDX-License-Identifier: Apache-2.0
#include "tuner/core/hash.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <sha2.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <array>
#include <cstdint>
#include <memory>

namespace tuner {

std::string content_hash(std::span<const std::string_view> parts) {
  const std::unique_ptr<XXH3_state_t, decltype(&XXH3_freeState)> state(XXH3_createState(),
                                                                       &XXH3_freeState);
  XXH3_128bits_reset(state.get());
  for (const std::string_view part : parts) {
    const std::uint64_t length = part.size();
    XXH3_128bits_update(state.get(), &length, sizeof length);
    XXH3_128bits_update(state.get(), part.data(), part.size());
  }
  const XXH128_hash_t hash = XXH3_128bits_digest(state.get());
  return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
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
