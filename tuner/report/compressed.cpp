// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/compressed.hpp"

#include "tuner/core/error.hpp"

#include <algorithm>
#include <cstdint>
#include <zlib.h>

namespace tuner::report {
namespace {

std::string gzip(std::string_view text) {
  constexpr int kGzip = 15 + 16, kMemory = 8;     // the largest window, with a header of gzip
  constexpr std::size_t kLong = 256 << 10;        // thousands of trials
  const int level = text.size() < kLong ? 6 : 4;  // 4 takes 0.4 of the time, for 6 % more
  z_stream stream{};
  if (deflateInit2(&stream, level, Z_DEFLATED, kGzip, kMemory, Z_DEFAULT_STRATEGY) != Z_OK) {
    throw Error(ErrorCode::failure, "zlib cannot begin to compress: out of memory");
  }
  std::string packed(deflateBound(&stream, static_cast<uLong>(text.size())), '\0');
  std::string input(text);  // zlib takes it without const
  stream.next_in = reinterpret_cast<Bytef*>(input.data());
  stream.avail_in = static_cast<uInt>(input.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  const int status = deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  if (status != Z_STREAM_END) throw Error(ErrorCode::failure, "zlib did not end a compression");
  return packed;
}

std::string base64(std::string_view bytes) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
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

}  // namespace

std::string compressed(std::string_view text) {
  return base64(gzip(text));
}

}  // namespace tuner::report
