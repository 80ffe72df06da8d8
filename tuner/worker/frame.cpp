// SPDX-License-Identifier: Apache-2.0
#include "tuner/worker/frame.hpp"

#include "tuner/core/error.hpp"

#include <fmt/format.h>

namespace tuner::worker {
namespace {

constexpr std::string_view kMagic = "tune";
constexpr std::size_t kHeader = kMagic.size() + 4;

std::size_t length_of(std::string_view header) {
  std::size_t length = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    length |= std::size_t{static_cast<unsigned char>(header[kMagic.size() + i])} << (8 * i);
  }
  return length;
}

}  // namespace

std::string frame(std::string_view payload) {
  if (payload.size() > kLargestPayload) {
    throw Error(ErrorCode::failure, fmt::format("a message of {} bytes is larger than {}",
                                                payload.size(), kLargestPayload));
  }
  std::string bytes(kMagic);
  for (int i = 0; i < 4; ++i) bytes.push_back(static_cast<char>(payload.size() >> (8 * i)));
  bytes += payload;
  return bytes;
}

void FrameReader::append(std::string_view bytes) {
  pending_.erase(0, taken_);
  taken_ = 0;
  pending_ += bytes;
}

std::optional<std::string> FrameReader::next() {
  const std::string_view rest = std::string_view(pending_).substr(taken_);
  const std::string_view magic = rest.substr(0, kMagic.size());
  if (!kMagic.starts_with(magic)) {
    throw Error(ErrorCode::failure, "the data from the other process is not a frame");
  }
  if (rest.size() < kHeader) return std::nullopt;
  const std::size_t length = length_of(rest);
  if (length > largest_) {
    throw Error(ErrorCode::failure,
                fmt::format("the other process announces a message of {} bytes, more than {}",
                            length, largest_));
  }
  if (rest.size() < kHeader + length) return std::nullopt;
  taken_ += kHeader + length;
  return std::string(rest.substr(kHeader, length));
}

}  // namespace tuner::worker
