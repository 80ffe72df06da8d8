// SPDX-License-Identifier: Apache-2.0
#include "tuner/core/compressed.hpp"

#include "tuner/core/error.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <dlfcn.h>
#include <limits>
#include <type_traits>
#include <zlib.h>

namespace tuner {
namespace {

/// Opened at first use and not linked: a library that is preloaded into every program must not
/// bring in a zlib before the program's own.
struct Zlib {
  decltype(&deflateInit2_) deflate_init = nullptr;
  decltype(&::deflate) deflate = nullptr;
  decltype(&::deflateBound) deflate_bound = nullptr;
  decltype(&::deflateEnd) deflate_end = nullptr;
  decltype(&inflateInit2_) inflate_init = nullptr;
  decltype(&::inflate) inflate = nullptr;
  decltype(&::inflateEnd) inflate_end = nullptr;
};

std::optional<Zlib> open_zlib() {
  void* const library = ::dlopen("libz.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return std::nullopt;
  bool is_whole = true;
  const auto find = [&](const char* name, auto& function) {
    function =
        reinterpret_cast<std::remove_reference_t<decltype(function)>>(::dlsym(library, name));
    is_whole = is_whole && function != nullptr;
  };
  Zlib zlib;
  find("deflateInit2_", zlib.deflate_init);
  find("deflate", zlib.deflate);
  find("deflateBound", zlib.deflate_bound);
  find("deflateEnd", zlib.deflate_end);
  find("inflateInit2_", zlib.inflate_init);
  find("inflate", zlib.inflate);
  find("inflateEnd", zlib.inflate_end);
  return is_whole ? std::optional(zlib) : std::nullopt;
}

/// Null where it is not installed.
const Zlib* opened_zlib() {
  static const std::optional<Zlib> zlib = open_zlib();
  return zlib ? &*zlib : nullptr;
}

constexpr int kGzip = 15 + 16;  // the largest window, with a header of gzip
constexpr std::string_view kDigits =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

int level_of(Compression compression, std::size_t bytes) {
  if (compression == Compression::best) return Z_BEST_COMPRESSION;
  constexpr std::size_t kLong = 256 << 10;
  return bytes < kLong ? 6 : 4;  // 4 takes 0.4 of the time, for 6 % more
}

std::string gzip(std::string_view bytes, Compression compression) {
  constexpr int kMemory = 8;
  const Zlib* const zlib = opened_zlib();
  if (zlib == nullptr) {
    throw Error(ErrorCode::failure, "zlib (libz.so.1) was not found: install zlib1g");
  }
  z_stream stream{};
  if (zlib->deflate_init(&stream, level_of(compression, bytes.size()), Z_DEFLATED, kGzip, kMemory,
                         Z_DEFAULT_STRATEGY, ZLIB_VERSION, sizeof stream) != Z_OK) {
    throw Error(ErrorCode::failure, "zlib cannot begin to compress: out of memory");
  }
  std::string packed(zlib->deflate_bound(&stream, static_cast<uLong>(bytes.size())), '\0');
  std::string input(bytes);  // zlib takes it without const
  stream.next_in = reinterpret_cast<Bytef*>(input.data());
  stream.avail_in = static_cast<uInt>(input.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  const int status = zlib->deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  zlib->deflate_end(&stream);
  if (status != Z_STREAM_END) throw Error(ErrorCode::failure, "zlib did not end a compression");
  return packed;
}

std::optional<std::string> gunzip(std::string packed, std::size_t size_bytes) {
  constexpr std::size_t kMost = std::numeric_limits<uInt>::max();
  if (packed.size() > kMost || size_bytes >= kMost) return std::nullopt;
  const Zlib* const zlib = opened_zlib();
  z_stream stream{};
  if (zlib == nullptr || zlib->inflate_init(&stream, kGzip, ZLIB_VERSION, sizeof stream) != Z_OK) {
    return std::nullopt;
  }
  std::string bytes(size_bytes + 1, '\0');  // one more, so that the end is seen in any case
  stream.next_in = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_in = static_cast<uInt>(packed.size());
  stream.next_out = reinterpret_cast<Bytef*>(bytes.data());
  stream.avail_out = static_cast<uInt>(bytes.size());
  const int status = zlib->inflate(&stream, Z_FINISH);
  const bool is_whole =
      status == Z_STREAM_END && stream.total_out == size_bytes && stream.avail_in == 0;
  zlib->inflate_end(&stream);
  if (!is_whole) return std::nullopt;
  bytes.resize(size_bytes);
  return bytes;
}

std::string base64(std::string_view bytes) {
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t count = std::min<std::size_t>(3, bytes.size() - i);
    std::uint32_t group = 0;
    for (std::size_t j = 0; j < 3; ++j) {
      group = group << 8U | (j < count ? static_cast<std::uint8_t>(bytes[i + j]) : 0U);
    }
    for (std::size_t j = 0; j < 4; ++j) {
      text += j <= count ? kDigits[group >> (18 - 6 * j) & 63U] : '=';
    }
  }
  return text;
}

constexpr std::uint8_t kNoDigit = 64;

constexpr std::array<std::uint8_t, 256> values_of_digits() {
  std::array<std::uint8_t, 256> values{};
  values.fill(kNoDigit);
  for (std::size_t i = 0; i < kDigits.size(); ++i) {
    values[static_cast<std::uint8_t>(kDigits[i])] = static_cast<std::uint8_t>(i);
  }
  return values;
}

std::optional<std::string> from_base64(std::string_view text) {
  static constexpr std::array<std::uint8_t, 256> kValues = values_of_digits();
  if (text.size() % 4 != 0) return std::nullopt;
  std::size_t padding = 0;
  while (padding < 2 && padding < text.size() && text[text.size() - 1 - padding] == '=') ++padding;
  std::string bytes;
  bytes.reserve(text.size() / 4 * 3);
  for (std::size_t i = 0; i < text.size(); i += 4) {
    const std::size_t digits = i + 4 == text.size() ? 4 - padding : 4;
    std::uint32_t group = 0;
    for (std::size_t j = 0; j < 4; ++j) {
      const std::uint8_t value = j < digits ? kValues[static_cast<std::uint8_t>(text[i + j])] : 0;
      if (value == kNoDigit) return std::nullopt;
      group = group << 6U | value;
    }
    for (std::size_t j = 0; j + 1 < digits; ++j) {
      bytes += static_cast<char>(group >> (16 - 8 * j) & 255U);
    }
  }
  return bytes;
}

}  // namespace

std::string compressed(std::string_view bytes, Compression compression) {
  return base64(gzip(bytes, compression));
}

std::optional<std::string> decompressed(std::string_view text, std::size_t size_bytes) {
  auto packed = from_base64(text);
  return packed ? gunzip(*std::move(packed), size_bytes) : std::nullopt;
}

}  // namespace tuner
