// SPDX-License-Identifier: Apache-2.0
// A worker without a device: it answers as the program of a device would, and misbehaves as its
// arguments tell it: CONFIG=BEHAVIOUR, CONFIG the JSON of a configuration or * for all. With
// `worker` as its first argument it is the real one.
#include "tuner/worker/calls.hpp"
#include "tuner/worker/channel.hpp"
#include "tuner/worker/worker_main.hpp"

#include <nlohmann/json.hpp>

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <string_view>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>
#include <vector>

namespace {

using tuner::Json;
using tuner::worker::Channel;

void raw(Channel& channel, const std::string& bytes) {
  static_cast<void>(::send(channel.descriptor(), bytes.data(), bytes.size(), 0));
}

void say(Channel& channel, const Json& message) {
  static_cast<void>(channel.send(message, Channel::Clock::time_point::max()));
}

Json evaluation() {
  tuner::worker::EvaluatedCandidate ok;
  ok.time = tuner::TimeSummary{
      .median_ns = 1000, .q1_ns = 990, .q3_ns = 1010, .min_ns = 980, .samples = 20};
  return {{"result", tuner::worker::to_message(ok)}};
}

Json failure(tuner::Outcome outcome) {
  tuner::worker::EvaluatedCandidate failed;
  failed.outcome = outcome;
  failed.message = "as told";
  return {{"result", tuner::worker::to_message(failed)}};
}

[[noreturn]] void sleep_for_ever() {
  for (;;) ::pause();
}

/// Says slowly, byte by byte, what would be one message.
void drip(Channel& channel, const Json& message) {
  const auto payload = Json::to_cbor(message);
  const std::string bytes =
      tuner::worker::frame({reinterpret_cast<const char*>(payload.data()), payload.size()});
  for (const char byte : bytes) raw(channel, std::string(1, byte));
}

void flood_errors() {
  const std::string line(4096, 'x');
  for (int i = 0; i < 4096; ++i)
    static_cast<void>(!::write(STDERR_FILENO, line.data(), line.size()));
  for (int i = 0; i < 4096; ++i)
    static_cast<void>(!::write(STDOUT_FILENO, line.data(), line.size()));
}

Json step(const tuner::worker::DeviceStep& next) {
  return {{"step", tuner::worker::to_message(next)}};
}

void begin_reference(Channel& channel) {
  say(channel, step({.size = "5", .on_trial = false, .launch_s = {}, .source = "toy.cu"}));
}

[[noreturn]] void die_in_reference(Channel& channel, int signal = SIGABRT) {
  begin_reference(channel);
  std::raise(signal);
  std::abort();
}

int served = 0;  // candidates, of which the first harms those behind it

void behave(Channel& channel, const std::string& behaviour) {
  if (behaviour == "reference_dies_first") die_in_reference(channel);
  if (behaviour == "hang_in_reference") {
    begin_reference(channel);
    sleep_for_ever();
  }
  if (behaviour == "killed_in_reference") die_in_reference(channel, SIGKILL);
  if (behaviour == "die_before_launch") std::abort();
  if (behaviour == "hang_before_launch") sleep_for_ever();
  if (behaviour == "error") {
    say(channel, {{"error", tuner::worker::to_message(
                                tuner::Error(tuner::ErrorCode::failure, "no memory"))}});
    return;
  }
  say(channel, step({.size = "67", .on_trial = true, .launch_s = {}}));
  if (behaviour == "reference_dies_later") die_in_reference(channel);
  if (behaviour == "segfault") {
    std::signal(SIGSEGV, SIG_DFL);
    std::raise(SIGSEGV);
  }
  if (behaviour == "dies_second" && ++served > 1) std::abort();
  if (behaviour == "exit") {
    static_cast<void>(!::write(STDERR_FILENO, "out of luck\n", 12));
    std::_Exit(3);
  }
  if (behaviour == "hang") {
    for (const int signal : {SIGTERM, SIGINT, SIGHUP}) std::signal(signal, SIG_IGN);
    sleep_for_ever();
  }
  if (behaviour == "patient_hang") {
    say(channel, step({.size = "67", .on_trial = true, .launches = 1, .launch_s = 1e300}));
    sleep_for_ever();
  }
  if (behaviour == "stop") std::raise(SIGSTOP);
  if (behaviour == "spin") {
    for (volatile int i = 0;;) static_cast<void>(i);
  }
  if (behaviour == "garbage") raw(channel, "this is no frame");
  if (behaviour == "no_cbor") raw(channel, tuner::worker::frame("\xff\xff"));
  if (behaviour == "no_step") say(channel, {{"step", {{"size", 67}}}});
  if (behaviour == "no_evaluation") say(channel, {{"result", {{"outcome", "splendid"}}}});
  if (behaviour == "half_a_frame") {
    raw(channel, tuner::worker::frame(std::string(100, 'x')).substr(0, 50));
    sleep_for_ever();
  }
  if (behaviour == "too_long") raw(channel, std::string("tune\xff\xff\xff\xff", 8));
  if (behaviour == "flood") flood_errors();
  if (behaviour == "drip") return drip(channel, evaluation());
  if (behaviour == "crashed") return say(channel, failure(tuner::Outcome::crashed));
  if (behaviour == "wrong") return say(channel, failure(tuner::Outcome::wrong_result));
  say(channel, evaluation());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && std::string_view(argv[1]) == "worker") {
    return tuner::worker::worker_main(std::vector<std::string>(argv + 2, argv + argc));
  }
  std::map<std::string, std::string> behaviours;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    const std::size_t equals = argument.rfind('=');
    behaviours[argument.substr(0, equals)] = argument.substr(equals + 1);
  }
  if (behaviours.contains("start")) {
    if (behaviours["start"] == "die") return 7;
    if (behaviours["start"] == "hang") sleep_for_ever();
  }
  Channel channel(3);
  for (bool opened = false;; opened = true) {
    const auto arrived = channel.receive(Channel::Clock::time_point::max());
    const auto* request = std::get_if<Json>(&arrived);
    if (request == nullptr) return 0;
    if (!opened) {
      tuner::space::DeviceInfo device;
      device.backend = "cpu";
      device.name = "Fake device";
      device.attributes.warp_size = 32;
      device.attributes.max_threads_per_block = 1024;
      say(channel, tuner::worker::to_message(tuner::worker::OpenAnswer{device, {}}));
      continue;
    }
    const auto call = request->at("call").get<std::string>();
    const Json& arguments = request->at("arguments");
    if (call == tuner::worker::kBeginSideBySide.name) {
      say(channel, {{"result", Json::object()}});
      continue;
    }
    if (call == tuner::worker::kTimeContender.name) {
      say(channel, {{"result", "a short while"}});
      continue;
    }
    const Json& candidate =
        call == tuner::worker::kEvaluate.name ? arguments.at("candidate") : arguments;
    const auto config = candidate.at("config").get<std::string>();
    behave(channel, behaviours.contains(config) ? behaviours[config] : behaviours["*"]);
  }
}
