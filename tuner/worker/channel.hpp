// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/core/json.hpp"
#include "tuner/worker/frame.hpp"

#include <chrono>
#include <optional>
#include <string_view>
#include <utility>
#include <variant>

namespace tuner::worker {

/// One end of a stream of messages between two processes: JSON values as CBOR (RFC 8949), each in a
/// frame. One thread may send while another receives.
class Channel {
 public:
  using Clock = std::chrono::steady_clock;

  /// Two connected ends.
  [[nodiscard]] static std::pair<Channel, Channel> pair();

  /// Takes ownership of the descriptor of a stream socket.
  explicit Channel(int descriptor) : Channel(descriptor, descriptor) {}
  /// Takes ownership of two descriptors, of sockets or pipes: what is read from and written to.
  Channel(int input, int output);
  Channel(Channel&& other) noexcept;
  Channel& operator=(Channel&&) = delete;
  ~Channel();

  /// That of what is read from.
  [[nodiscard]] int descriptor() const { return input_; }
  /// Both sides find it closed from now on; from any thread.
  void shut() const;
  /// Larger ones are refused from now on, as what is no message; at most kLargestPayload.
  void take_payloads_up_to(std::size_t bytes) { reader_.take_up_to(bytes); }
  /// What arrived and is no message yet: the words of who speaks otherwise.
  [[nodiscard]] std::string_view unread() const { return reader_.unread(); }

  enum class Sending { done, closed, late };
  /// Sends a message; `late` when the other side has not taken it by the deadline.
  [[nodiscard]] Sending send(const Json& message, Clock::time_point deadline) const;

  enum class Absence { closed, late };
  /// The next message, or why there is none by the deadline. Throws Error(failure) when what
  /// arrives is no message.
  [[nodiscard]] std::variant<Json, Absence> receive(Clock::time_point deadline);

 private:
  [[nodiscard]] std::optional<Json> next();
  /// Reads once; false at the end of the stream.
  [[nodiscard]] bool read_some();

  int input_, output_;
  FrameReader reader_;
};

}  // namespace tuner::worker
