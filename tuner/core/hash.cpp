// SPDX-License-Identifier: Apache-2.0
#include "tuner/core/hash.hpp"

#include "tuner/core/error.hpp"
#include "tuner/core/file.hpp"
#include "tuner/core/printable.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <sha2.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <array>
#include <cstdint>
#include <system_error>

namespace tuner {

namespace {

class ContentHash {
 public:
  ContentHash() {
    XXH3_INITSTATE(&state_);
    XXH3_128bits_reset(&state_);
  }

  void add_length(std::uint64_t length) { XXH3_128bits_update(&state_, &length, sizeof length); }
  void add(std::string_view bytes) { XXH3_128bits_update(&state_, bytes.data(), bytes.size()); }

  [[nodiscard]] std::string digits() const {
    const XXH128_hash_t hash = XXH3_128bits_digest(&state_);
    std::string digits(32, '0');
    for (std::size_t i = 0; i < 16; ++i) {
      digits[15 - i] = "0123456789abcdef"[hash.high64 >> 4 * i & 15U];
      digits[31 - i] = "0123456789abcdef"[hash.low64 >> 4 * i & 15U];
    }
    return digits;
  }

 private:
  XXH3_state_t state_;
};

}  // namespace

std::string content_hash(std::span<const std::string_view> parts) {
  ContentHash hash;
  for (const std::string_view part : parts) {
    hash.add_length(part.size());
    hash.add(part);
  }
  return hash.digits();
}

std::string content_hash_of_file(const std::filesystem::path& path) {
  std::error_code unknown;
  const std::uintmax_t length = std::filesystem::file_size(path, unknown);
  ContentHash hash;
  hash.add_length(length);
  std::uintmax_t read = 0;
  read_pieces(path, [&](std::string_view piece) {
    hash.add(piece);
    read += piece.size();
    return true;
  });
  if (read == length) return hash.digits();
  throw Error(ErrorCode::usage, fmt::format("{}: was changed while it was read: run this again",
                                            printable_name(path.string())));
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
