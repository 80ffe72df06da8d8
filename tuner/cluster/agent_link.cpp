// SPDX-License-Identifier: Apache-2.0
#include "tuner/cluster/agent_link.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <utility>

namespace tuner::cluster {
namespace {

/// {"opened"} is waited for as the answer of a lane is.
constexpr std::size_t kOpening = static_cast<std::size_t>(-1);

}  // namespace

AgentLink::AgentLink(worker::Channel channel, std::string name,
                     std::chrono::duration<double> heartbeat, std::function<std::string()> words)
    : channel_(std::move(channel)),
      name_(std::move(name)),
      heartbeat_(std::chrono::duration_cast<Clock::duration>(heartbeat)),
      words_(std::move(words)),
      listener_([this](const std::stop_token& stop) { listen(stop); }) {}

AgentLink::~AgentLink() {
  end();
}

void AgentLink::end() {
  listener_.request_stop();
  is_losing_ = true;
  channel_.shut();
  const std::scoped_lock lock(mutex_);
  if (!lost_) lost_ = "the run is over";
  heard_.notify_all();
}

void AgentLink::listen(const std::stop_token& stop) {
  const auto silence = std::chrono::duration_cast<Clock::duration>(kHeartbeatsToLoss * heartbeat_);
  auto last_heard = Clock::now();
  auto next_beat = last_heard + heartbeat_;
  try {
    while (!stop.stop_requested() && !lost()) {
      auto arrived = channel_.receive(std::min(next_beat, last_heard + silence));
      const auto now = Clock::now();
      if (auto* message = std::get_if<Json>(&arrived)) {
        last_heard = now;
        hear(std::move(*message));
      } else if (std::get<worker::Channel::Absence>(arrived) == worker::Channel::Absence::closed) {
        return lose("it has ended or its connection is lost");
      } else if (now >= last_heard + silence) {
        return lose(fmt::format("nothing was heard of it for {:.3g} s",
                                std::chrono::duration<double>(silence).count()));
      }
      if (now >= next_beat) {
        say({{"ping", 1}});
        next_beat = now + heartbeat_;
      }
    }
  } catch (const Error& error) {
    lose(error.what());
  }
}

void AgentLink::hear(Json message) {
  if (message.contains("pong")) return;
  const bool opening = !message.contains("lane");
  const std::size_t lane =
      opening ? kOpening
              : worker::from_message<std::uint64_t>(worker::member(message, "lane"), "lane");
  const std::scoped_lock lock(mutex_);
  const auto asked = answers_.find(lane);
  if (asked == answers_.end() || asked->second) {
    throw Error(ErrorCode::failure, "it sent an answer without a request");
  }
  asked->second = std::move(message);
  heard_.notify_all();
}

void AgentLink::lose(const std::string& why) {
  // The first reason is the true one: what follows it is that the connection is shut.
  if (is_losing_.exchange(true)) return;
  channel_.shut();
  const std::string said = words_();
  const std::scoped_lock lock(mutex_);
  if (!lost_) lost_ = said.empty() ? why : fmt::format("{}: {}", why, said);
  heard_.notify_all();
}

Error AgentLink::loss() const {
  return {ErrorCode::no_device, fmt::format("{} is lost: {}", name_, *lost_)};
}

bool AgentLink::lost() const {
  const std::scoped_lock lock(mutex_);
  return lost_.has_value();
}

void AgentLink::distrust(const Error& error) {
  lose(fmt::format("it sent an invalid answer: {}", error.what()));
  std::unique_lock lock(mutex_);
  heard_.wait(lock, [this] { return lost_.has_value(); });
  throw loss();
}

void AgentLink::say(const Json& message) {
  const auto patience = std::chrono::duration_cast<Clock::duration>(kHeartbeatsToLoss * heartbeat_);
  const std::scoped_lock lock(sending_);
  const worker::Channel::Sending sent = channel_.send(message, Clock::now() + patience);
  // Half a message may have gone: nothing can follow it.
  if (sent != worker::Channel::Sending::done) channel_.shut();
}

Json AgentLink::answer_of(std::size_t lane) {
  std::unique_lock lock(mutex_);
  heard_.wait(lock, [&] { return lost_ || answers_.at(lane); });
  std::optional<Json> answer = std::move(answers_.at(lane));
  answers_.erase(lane);
  if (!answer) throw loss();
  return std::move(*answer);
}

Json AgentLink::ask(std::size_t lane, Json request) {
  request["lane"] = lane;
  {
    const std::scoped_lock lock(mutex_);
    if (lost_) throw loss();
    answers_[lane];
  }
  say(request);
  Json answer = answer_of(lane);
  const auto told = answer.find("error");
  if (told == answer.end()) return answer;
  std::optional<Error> error;
  try {
    error = worker::error_from(*told);
  } catch (const Error& invalid) {
    distrust(invalid);
  }
  // What fails on one machine may go well on another: a full disk, no compiler.
  const ErrorCode code = error->code() == ErrorCode::failure ? ErrorCode::no_device : error->code();
  throw Error(code, fmt::format("{}: {}", name_, error->what()));
}

AgentOpened AgentLink::open(const AgentOpening& opening) {
  {
    const std::scoped_lock lock(mutex_);
    answers_[kOpening];
  }
  say({{"open", worker::to_message(opening)}});
  const Json answer = answer_of(kOpening);
  try {
    if (answer.contains("error")) throw worker::error_from(answer.at("error"));
    auto opened = worker::from_message<AgentOpened>(worker::member(answer, "opened"), "opened");
    if (opened.devices.empty()) throw Error(ErrorCode::no_device, "it has no device");
    return opened;
  } catch (const Error& error) {
    lose(error.what());
    throw;
  }
}

Json AgentDevice::ask_device(const Json& request, const space::Size& /*size*/) {
  return link_.ask(lane_, request);
}

Expected<Json, Failure> AgentDevice::ask_about_contender(const Json& request,
                                                         const space::Size& /*size*/) {
  return link_.ask(lane_, request);
}

AgentCompiler::AgentCompiler(AgentLink& link, std::size_t first_lane, std::size_t lanes,
                             const family::Family& family)
    : link_(link), family_(family) {
  for (std::size_t i = 0; i < lanes; ++i) free_lanes_.push_back(first_lane + i);
}

/// A lane for one compilation.
struct AgentCompiler::HeldLane {
  explicit HeldLane(const AgentCompiler& compiler) : of(compiler), number(taken_from(compiler)) {}
  ~HeldLane() {
    const std::scoped_lock lock(of.mutex_);
    of.free_lanes_.push_back(number);
    of.freed_.notify_one();
  }
  HeldLane(const HeldLane&) = delete;
  HeldLane& operator=(const HeldLane&) = delete;

  static std::size_t taken_from(const AgentCompiler& compiler) {
    std::unique_lock lock(compiler.mutex_);
    compiler.freed_.wait(lock, [&] { return !compiler.free_lanes_.empty(); });
    const std::size_t lane = compiler.free_lanes_.back();
    compiler.free_lanes_.pop_back();
    return lane;
  }

  const AgentCompiler& of;
  std::size_t number;
};

Expected<backend::Binary, Failure> AgentCompiler::compile(const family::CompileJob& job) const {
  const auto of = std::ranges::find_if(family_.kernels, [&](const family::Kernel& kernel) {
    return kernel.source.name == job.source.name && kernel.source.text == job.source.text;
  });
  if (of == family_.kernels.end()) {
    throw Error(ErrorCode::failure, "an agent compiles the kernels of its family alone");
  }
  const HeldLane lane(*this);
  const Json answer =
      link_.ask(lane.number, worker::request(kCompile, AgentJob{.kernel = of->name,
                                                                .entries = job.entries,
                                                                .options = job.options,
                                                                .key = job.key}));
  try {
    const auto compiled = worker::result_in<worker::Nothing>(answer);
    if (!compiled) return Unexpected(compiled.error());
    return backend::Binary{};
  } catch (const Error& error) {
    link_.distrust(error);
  }
}

}  // namespace tuner::cluster
