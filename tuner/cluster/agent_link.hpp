// SPDX-License-Identifier: Apache-2.0
// The parent's side of an agent (agent_messages.hpp).
#pragma once

#include "tuner/backend/backend.hpp"
#include "tuner/cluster/agent_messages.hpp"
#include "tuner/worker/channel.hpp"
#include "tuner/worker/remote_device.hpp"

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace tuner::cluster {

/// A conversation with an agent. Keeps the heartbeat; an agent that is silent for
/// kHeartbeatsToLoss of it, says what is no message, or closes is lost for good. May be used from
/// any thread.
class AgentLink {
 public:
  /// `name` and `words`, which the launcher has said, are for messages.
  AgentLink(worker::Channel channel, std::string name, std::chrono::duration<double> heartbeat,
            std::function<std::string()> words);
  AgentLink(const AgentLink&) = delete;
  AgentLink& operator=(const AgentLink&) = delete;
  ~AgentLink();

  /// Has it open its devices and waits for that. Throws Error as the agent answers, or
  /// Error(no_device) when it is lost.
  [[nodiscard]] AgentOpened open(const AgentOpening& opening);
  /// The answer of a lane to a request; a lane has one request at a time. Throws Error(no_device)
  /// when the agent is lost, and as it answers {"error"}; that the agent itself has failed is
  /// Error(no_device), too.
  [[nodiscard]] Json ask(std::size_t lane, Json request);
  /// Ends the conversation: the agent finds it closed.
  void end();
  /// What it says is not to be believed any more.
  [[noreturn]] void distrust(const Error& error);
  [[nodiscard]] bool lost() const;
  [[nodiscard]] const std::string& name() const { return name_; }

 private:
  using Clock = worker::Channel::Clock;

  void listen(const std::stop_token& stop);
  void hear(Json message);
  void lose(const std::string& why);
  void say(const Json& message);
  [[nodiscard]] Json answer_of(std::size_t lane);
  [[nodiscard]] Error loss() const;

  worker::Channel channel_;
  std::string name_;
  Clock::duration heartbeat_;
  std::function<std::string()> words_;
  std::mutex sending_;
  std::atomic<bool> is_losing_ = false;
  mutable std::mutex mutex_;  // of what follows
  std::condition_variable heard_;
  std::map<std::size_t, std::optional<Json>> answers_;  // by lane that was asked
  std::optional<std::string> lost_;                     // why
  std::jthread listener_;
};

/// A device of an agent.
class AgentDevice : public worker::RemoteDevice {
 public:
  /// The link must outlive it.
  AgentDevice(AgentLink& link, std::size_t lane, worker::OpenAnswer opened)
      : link_(link), lane_(lane), opened_(std::move(opened)) {}

  const space::DeviceInfo& device() const override { return opened_.device; }
  const space::EnvironmentInfo& environment() const override { return opened_.environment; }

 protected:
  Expected<Json, Failure> ask_about_contender(const Json& request,
                                              const space::Size& size) override;
  Json ask_device(const Json& request, const space::Size& size) override;
  backend::Binary sent_binary(const worker::Candidate& /*candidate*/) const override { return {}; }
  void contender_failed(const Failure& /*failure*/) override {}
  Failure invalid_answer(const Error& error) override { link_.distrust(error); }
  Error refusal(const Error& error) override { link_.distrust(error); }

 private:
  AgentLink& link_;
  std::size_t lane_;
  worker::OpenAnswer opened_;
};

/// The compilers of an agent. The binaries stay there: those that it returns are empty, and the
/// agent's devices know what is meant by the configuration.
class AgentCompiler : public backend::Compiler {
 public:
  /// Lanes of the agent from `first_lane` on. Link and family must outlive it.
  AgentCompiler(AgentLink& link, std::size_t first_lane, std::size_t lanes,
                const family::Family& family);

  /// From as many threads as there are lanes. Throws Error(no_device) when the agent is lost.
  [[nodiscard]] Expected<backend::Binary, Failure> compile(
      const family::CompileJob& job) const override;

 private:
  struct HeldLane;

  AgentLink& link_;
  const family::Family& family_;
  mutable std::mutex mutex_;
  mutable std::condition_variable freed_;
  mutable std::vector<std::size_t> free_lanes_;
};

}  // namespace tuner::cluster
