// SPDX-License-Identifier: Apache-2.0
#include "tuner/worker/channel.hpp"

#include "tuner/core/error.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>
#include <vector>

namespace tuner::worker {
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

/// Writes what can be written at once: to a pipe, which may block, no more than fits where anything
/// does.
ssize_t write_some(int descriptor, std::string_view bytes) {
  const ssize_t sent = ::send(descriptor, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  if (sent >= 0 || errno != ENOTSOCK) return sent;
  pollfd room{.fd = descriptor, .events = POLLOUT, .revents = 0};
  if (::poll(&room, 1, 0) == 0) {
    errno = EAGAIN;
    return -1;
  }
  return ::write(descriptor, bytes.data(), std::min<std::size_t>(bytes.size(), PIPE_BUF));
}

/// Walks over a payload and says whether it is CBOR as `send` writes it: of definite lengths only,
/// nested no deeper than kDeepest, of no more than kMostItems. The library that reads it calls
/// itself for each level and makes an object of 16 bytes or more for each item, even one of a byte,
/// and what comes from a process that a candidate has damaged must not exhaust the memory of this
/// one.
class PayloadCheck {
 public:
  explicit PayloadCheck(std::string_view payload) : rest_(payload) {}

  [[nodiscard]] bool passes() {
    std::vector<std::uint64_t> left = {1};  // items still to come, of every array that is open
    std::size_t entered = 0;
    while (!left.empty()) {
      if (left.back() == 0) {
        left.pop_back();
        continue;
      }
      --left.back();
      const auto items = enter_item();
      if (!items || left.size() > kDeepest || ++entered > kMostItems) return false;
      if (*items > 0) left.push_back(*items);
    }
    return true;
  }

 private:
  static constexpr std::size_t kDeepest = 32;
  static constexpr std::size_t kMostItems = std::size_t{1} << 20;

  /// Takes an item's head, and a text or bytes whole. How many items are in it.
  std::optional<std::uint64_t> enter_item() {
    enum Major { bytes = 2, text = 3, array = 4, map = 5, tag = 6 };
    if (rest_.empty()) return std::nullopt;
    const int major = static_cast<unsigned char>(rest_.front()) >> 5;
    const auto argument = take_argument();
    if (!argument || major == tag) return std::nullopt;
    if (major < bytes || major > map) return 0;
    if (*argument > rest_.size()) return std::nullopt;  // an item takes a byte at the least
    if (major == array) return *argument;
    if (major == map) return 2 * *argument;
    rest_.remove_prefix(*argument);
    return 0;
  }

  std::optional<std::uint64_t> take_argument() {
    const unsigned info = static_cast<unsigned char>(rest_.front()) & 31U;
    rest_.remove_prefix(1);
    if (info < 24) return info;
    if (info > 27) return std::nullopt;  // an indefinite length, or none
    const std::size_t width = std::size_t{1} << (info - 24);
    if (rest_.size() < width) return std::nullopt;
    std::uint64_t argument = 0;
    for (const char byte : rest_.substr(0, width)) {
      argument = argument << 8 | static_cast<unsigned char>(byte);
    }
    rest_.remove_prefix(width);
    return argument;
  }

  std::string_view rest_;
};

}  // namespace

std::pair<Channel, Channel> Channel::pair() {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    throw Error(ErrorCode::failure,
                fmt::format("cannot connect two processes: {}", std::strerror(errno)));
  }
  return {Channel(ends[0]), Channel(ends[1])};
}

Channel::Channel(int input, int output) : input_(input), output_(output) {}

Channel::Channel(Channel&& other) noexcept
    : input_(std::exchange(other.input_, -1)),
      output_(std::exchange(other.output_, -1)),
      reader_(std::move(other.reader_)) {}

Channel::~Channel() {
  if (input_ >= 0) ::close(input_);
  if (output_ >= 0 && output_ != input_) ::close(output_);
}

void Channel::shut() const {
  for (const int descriptor : {input_, output_}) ::shutdown(descriptor, SHUT_RDWR);
}

Channel::Sending Channel::send(const Json& message, Clock::time_point deadline) const {
  const std::vector<std::uint8_t> payload = Json::to_cbor(message);
  const std::string bytes = frame({reinterpret_cast<const char*>(payload.data()), payload.size()});
  for (std::string_view rest = bytes; !rest.empty();) {
    const ssize_t sent = write_some(output_, rest);
    if (sent > 0) {
      rest.remove_prefix(static_cast<std::size_t>(sent));
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      if (!wait_for(output_, POLLOUT, deadline)) return Sending::late;
    } else if (errno != EINTR) {
      return Sending::closed;
    }
  }
  return Sending::done;
}

std::optional<Json> Channel::next() {
  const auto payload = reader_.next();
  if (!payload) return std::nullopt;
  if (!PayloadCheck(*payload).passes()) {
    throw Error(ErrorCode::failure,
                "the data from the other process is not a message: it is cut short, nested or of "
                "too many parts");
  }
  try {
    return Json::from_cbor(*payload);
  } catch (const Json::exception& exception) {
    throw Error(
        ErrorCode::failure,
        fmt::format("the data from the other process is not a message: {}", exception.what()));
  }
}

bool Channel::read_some() {
  std::array<char, 65536> buffer;  // NOLINT: filled by recv
  // There is something to read: even of a pipe this returns at once.
  const ssize_t got = ::read(input_, buffer.data(), buffer.size());
  if (got > 0) reader_.append({buffer.data(), static_cast<std::size_t>(got)});
  const bool nothing_yet = got < 0 && (errno == EAGAIN || errno == EINTR);
  return got > 0 || nothing_yet;
}

std::variant<Json, Channel::Absence> Channel::receive(Clock::time_point deadline) {
  for (;;) {
    if (auto message = next()) return std::move(*message);
    if (!wait_for(input_, POLLIN, deadline)) return Absence::late;
    if (!read_some()) return Absence::closed;
  }
}

}  // namespace tuner::worker
