// SPDX-License-Identifier: Apache-2.0
#include "tuner/worker/channel.hpp"

#include "tuner/core/error.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <sys/socket.h>
#include <thread>

namespace tuner::worker {
namespace {

using namespace std::chrono_literals;

constexpr auto kNever = Channel::Clock::time_point::max();

TEST(Channel, CarriesMessagesLargerThanAnyBufferBothWays) {
  auto [here, there] = Channel::pair();
  const Json large = {{"text", std::string(8 << 20, 'x')}};
  std::jthread other([&there] {
    const auto message = there.receive(kNever);
    static_cast<void>(there.send(std::get<Json>(message), kNever));
  });
  EXPECT_EQ(here.send(large, kNever), Channel::Sending::done);
  EXPECT_EQ(std::get<Json>(here.receive(kNever)), large);
}

TEST(Channel, SaysThatTheOtherSideIsGone) {
  auto ends = std::optional(Channel::pair());
  Channel here = std::move(ends->first);
  EXPECT_EQ(ends->second.send({{"last", "words"}}, kNever), Channel::Sending::done);
  ends.reset();
  EXPECT_EQ(std::get<Json>(here.receive(kNever)), Json({{"last", "words"}}));
  EXPECT_EQ(std::get<Channel::Absence>(here.receive(kNever)), Channel::Absence::closed);
  EXPECT_EQ(here.send(Json::object(), kNever), Channel::Sending::closed);
}

/// What becomes of a payload that nobody who uses a Channel sends.
std::string received(const std::string& payload) {
  auto [here, there] = Channel::pair();
  const std::string bytes = frame(payload);
  EXPECT_EQ(::send(there.descriptor(), bytes.data(), bytes.size(), MSG_DONTWAIT),
            static_cast<ssize_t>(bytes.size()));
  try {
    return std::get<Json>(here.receive(kNever)).dump();
  } catch (const Error& error) {
    return error.what();
  }
}

TEST(Channel, RefusesWhatWouldExhaustTheStackOfItsReader) {
  constexpr const char* kRefused =
      "the data from the other process is not a message: it is cut short, nested or of too many "
      "parts";
  EXPECT_EQ(received(std::string(60'000, '\x81')), kRefused) << "arrays in arrays";
  EXPECT_EQ(received(std::string(60'000, '\x7f')), kRefused) << "texts of texts of texts";
  EXPECT_EQ(received(std::string(20, '\x81') + '\x05'),
            std::string(20, '[') + "5" + std::string(20, ']'));
  EXPECT_EQ(received("\x82\x01"), kRefused) << "one of two items";
  EXPECT_EQ(received("\x63"
                     "ab"),
            kRefused)
      << "two of three letters";
}

TEST(Channel, RefusesWhatWouldExhaustTheMemoryOfItsReader) {
  const std::string nulls(2 << 20, '\xf6');  // 16 bytes each once they are read
  auto [here, there] = Channel::pair();
  const std::string bytes = frame(std::string("\x9a\x00\x20\x00\x00", 5) + nulls);
  std::jthread other([&there, &bytes] {
    for (std::string_view rest = bytes; !rest.empty();) {
      const ssize_t sent = ::send(there.descriptor(), rest.data(), rest.size(), MSG_NOSIGNAL);
      if (sent <= 0) return;
      rest.remove_prefix(static_cast<std::size_t>(sent));
    }
  });
  EXPECT_THROW(static_cast<void>(here.receive(kNever)), Error);
}

TEST(Channel, KeepsDeadlines) {
  auto [here, there] = Channel::pair();
  const auto soon = [] { return Channel::Clock::now() + 50ms; };
  EXPECT_EQ(std::get<Channel::Absence>(here.receive(soon())), Channel::Absence::late);
  // Nobody reads: the message does not fit into the buffers of the system.
  EXPECT_EQ(here.send({{"text", std::string(8 << 20, 'x')}}, soon()), Channel::Sending::late);
}

}  // namespace
}  // namespace tuner::worker
