// SPDX-License-Identifier: Apache-2.0
// Any bytes as what a worker sends: messages, or one clean Error, whatever pieces they arrive in;
// and nothing but a value or an Error from everything that is read out of a message.
#include "input.hpp"
#include "tuner/worker/calls.hpp"
#include "tuner/worker/channel.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <optional>
#include <string>
#include <sys/socket.h>
#include <vector>

namespace {

using namespace tuner;

/// The payloads in the bytes, and whether the stream was found to be none.
struct Stream {
  std::vector<std::string> payloads;
  bool broken = false;
  bool operator==(const Stream&) const = default;
};

Stream read_in_pieces(std::string_view bytes, std::size_t piece) {
  Stream stream;
  worker::FrameReader reader;
  try {
    for (; !bytes.empty(); bytes.remove_prefix(std::min(piece, bytes.size()))) {
      reader.append(bytes.substr(0, piece));
      while (const auto payload = reader.next()) stream.payloads.push_back(*payload);
    }
  } catch (const Error&) {
    stream.broken = true;
  }
  return stream;
}

int depth(const Json& message) {
  int deepest = 0;
  if (!message.is_structured()) return deepest;
  for (const Json& member : message) deepest = std::max(deepest, depth(member));
  return deepest + 1;
}

void read_everything(const Json& message) {
  const auto attempt = [&](const auto& read) {
    try {
      static_cast<void>(read(message));
    } catch (const Error& error) {
      fuzz::require(error.what()[0] != '\0', "an Error says what");
    }
  };
  const auto as = [&]<class T>(std::type_identity<T>) {
    attempt([](const Json& each) {
      return Json::to_cbor(worker::to_message(worker::from_message<T>(each)));
    });
  };
  as(std::type_identity<family::CompileJob>());
  as(std::type_identity<worker::OpenAnswer>());
  as(std::type_identity<worker::DeviceStep>());
  as(std::type_identity<worker::EvaluateArguments>());
  as(std::type_identity<worker::TransferArguments>());
  attempt(worker::result_in<backend::Binary>);
  attempt(worker::result_in<backend::Sample>);
  attempt(worker::result_in<worker::EvaluatedCandidate>);
  attempt(worker::result_in<worker::StartUp>);
  attempt(worker::result_in<measure::TransferTimes>);
  attempt(worker::result_in<backend::Conditions>);
  attempt(worker::result_in<bool>);
  attempt(worker::error_from);
  attempt([](const Json& each) {
    return worker::family_of(worker::from_message<worker::OpenRequest>(each).family).path;
  });
}

/// As the parent reads it: from a socket, until the stream ends.
void receive_all(std::string_view bytes) {
  auto ends = std::optional(worker::Channel::pair());
  worker::Channel here = std::move(ends->first);
  const auto sent =
      ::send(ends->second.descriptor(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  fuzz::require(bytes.empty() || sent > 0, "the bytes fit into the buffers of a socket");
  ends.reset();
  try {
    for (;;) {
      auto arrived = here.receive(worker::Channel::Clock::time_point::max());
      const Json* message = std::get_if<Json>(&arrived);
      if (message == nullptr) return;
      fuzz::require(depth(*message) <= 32, "what is read is not nested without end");
      read_everything(*message);
      for (const Json& member : *message) read_everything(member);
    }
  } catch (const Error& error) {
    fuzz::require(error.code() == ErrorCode::failure, "what is no message is a failure");
  }
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes = fuzz::text_of(data, size);
  const Stream whole = read_in_pieces(bytes, bytes.size() + 1);
  fuzz::require(read_in_pieces(bytes, 1) == whole, "where the stream is cut does not matter");
  receive_all(bytes);
  // The fuzzer need not find out about lengths: the same bytes as the payload of a frame.
  receive_all(worker::frame(bytes));
  return 0;
}
