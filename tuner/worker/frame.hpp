// SPDX-License-Identifier: Apache-2.0
// Frames: how messages are told apart on a stream between processes. A frame is the four bytes
// "tune", the payload's length (32 bits, little-endian) and the payload.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tuner::worker {

/// The largest payload: a compiled kernel and the text of a space file are far below it.
inline constexpr std::size_t kLargestPayload = std::size_t{64} << 20;

/// A frame around a payload. Throws Error(failure) when the payload is larger than kLargestPayload.
[[nodiscard]] std::string frame(std::string_view payload);

/// Takes bytes as they arrive and returns the payloads of complete frames.
class FrameReader {
 public:
  void take_up_to(std::size_t payload_bytes) { largest_ = payload_bytes; }
  void append(std::string_view bytes);
  /// The next whole payload, if it has arrived. Throws Error(failure) when what arrived is no frame
  /// or announces a payload that is too large; after that the stream is lost.
  [[nodiscard]] std::optional<std::string> next();
  /// The bytes after the payloads returned so far.
  [[nodiscard]] std::string_view unread() const {
    return std::string_view(pending_).substr(taken_);
  }

 private:
  std::size_t largest_ = kLargestPayload;
  std::string pending_;
  std::size_t taken_ = 0;  // of pending_, by payloads already returned
};

}  // namespace tuner::worker
