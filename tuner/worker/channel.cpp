// SPDX-License-Identifier: Apache-2.0
#include "tuner/worker/channel.hpp"

#include "tuner/core/error.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <poll.h>
#include <string_view>
#include <sys/socket.h>
#include <unistd.h>

namespace tuner {
namespace {

/// Waits for an event on a descriptor; false at the deadline.
bool wait_for(int descriptor, short event, Channel::Clock::time_point deadline) {
  for (;;) {
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(deadline - Channel::Clock::now());
    if (left.count() <= 0) return false;
    constexpr std::chrono::milliseconds kLongest{60'000};  // poll takes an int
    pollfd waiting{.fd = descriptor, .events = event, .revents = 0};
    const int ready = ::poll(
        &waiting, 1, static_cast<int>(std::min<std::chrono::milliseconds>(left, kLongest).count()));
    if (ready > 0) return true;
    if (ready < 0 && errno != EINTR) return true;  // the read or write that follows says why
  }
}

}  // namespace

std::pair<Channel, Channel> Channel::pair() {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    throw Error(ErrorCode::failure,
                fmt::format("cannot connect two processes: {}", std::strerror(errno)));
  }
  return {Channel(ends[0]), Channel(ends[1])};
}

Channel::Channel(int descriptor) : descriptor_(descriptor) {}

Channel::Channel(Channel&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)), reader_(std::move(other.reader_)) {}

Channel::~Channel() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

Channel::Sending Channel::send(const Json& message, Clock::time_point deadline) {
  const std::vector<std::uint8_t> payload = Json::to_cbor(message);
  const std::string bytes = frame({reinterpret_cast<const char*>(payload.data()), payload.size()});
  for (std::string_view rest = bytes; !rest.empty();) {
    const ssize_t sent = ::send(descriptor_, rest.data(), rest.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent > 0) {
      rest.remove_prefix(static_cast<std::size_t>(sent));
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      if (!wait_for(descriptor_, POLLOUT, deadline)) return Sending::late;
    } else if (errno != EINTR) {
      return Sending::closed;
    }
  }
  return Sending::done;
}

std::optional<Json> Channel::next() {
  const auto payload = reader_.next();
  if (!payload) return std::nullopt;
  try {
    return Json::from_cbor(*payload);
  } catch (const Json::exception& exception) {
    throw Error(
        ErrorCode::failure,
        fmt::format("what arrived from the other process is no message: {}", exception.what()));
  }
}

bool Channel::read_some() {
  std::array<char, 65536> buffer;  // NOLINT: filled by recv
  const ssize_t got = ::recv(descriptor_, buffer.data(), buffer.size(), MSG_DONTWAIT);
  if (got > 0) reader_.append({buffer.data(), static_cast<std::size_t>(got)});
  const bool nothing_yet = got < 0 && (errno == EAGAIN || errno == EINTR);
  return got > 0 || nothing_yet;
}

std::variant<Json, Channel::Absence> Channel::receive(Clock::time_point deadline) {
  for (;;) {
    if (auto message = next()) return std::move(*message);
    if (!wait_for(descriptor_, POLLIN, deadline)) return Absence::late;
    if (!read_some()) return Absence::closed;
  }
}

}  // namespace tuner
