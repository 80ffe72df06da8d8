// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/core/process.hpp"
#include "tuner/worker/agent.hpp"
#include "tuner/worker/agent_connection.hpp"
#include "tuner/worker/last_words.hpp"

#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace tuner::worker {

/// What starts agents, and what they are to open.
struct AgentPlan {
  /// Programs with their arguments. `tune worker node`, by the path of this program, is added to
  /// one that does not end with `worker node`.
  std::vector<std::vector<std::string>> launchers;
  AgentOpening opening;
  std::chrono::duration<double> patience{60};  ///< until there is an agent
  int compile_threads = 0;                     ///< of each agent; 0: its share of its processors
};

/// A device of an agent, and where it is compiled for.
struct AgentCard {
  std::string name;       ///< in the order that they came: "0"
  std::string host, job;  ///< of the agent; a job of a batch system or empty
  std::unique_ptr<AgentDevice> device;
  const AgentCompiler* compiler;  ///< of the agent; all of its devices share it
  int compile_threads;
  const AgentLink* link;
};

/// The agents of a run. Launchers are started once; each may bring any number of agents, at any
/// time. What an agent or a launcher does wrong costs itself only.
class AgentPool {
 public:
  using Tell = std::function<void(const std::string& line)>;

  /// Starts the launchers. The family must outlive it. `tell` hears, from any thread, who is
  /// refused and why. Throws Error(failure) for a launcher that cannot be started.
  AgentPool(AgentPlan plan, const family::Family& family, Tell tell);
  AgentPool(const AgentPool&) = delete;
  AgentPool& operator=(const AgentPool&) = delete;
  /// Ends all agents and launchers.
  ~AgentPool();

  /// Waits for the first agent, and a little for the others. Throws Error(no_device), with what the
  /// launchers have said, when there is none in the time allowed, or none can come any more.
  void await_first();
  /// The cards of all agents so far that are not lost, in the order that they came. They stay valid
  /// as long as the pool.
  [[nodiscard]] std::vector<const AgentCard*> cards() const;

 private:
  using Clock = Channel::Clock;

  /// A program that starts agents.
  struct Launcher {
    explicit Launcher(std::vector<std::string> its_command);

    [[nodiscard]] std::string line() const;
    /// What it has said, of which the agents' stderr is part, and how it ended if it has.
    [[nodiscard]] std::string words() const;

    std::vector<std::string> command;
    LastWords errors;
    std::unique_ptr<Channel> streams;  // until they are an agent's
    mutable std::mutex mutex;          // of the child
    std::unique_ptr<ChildProcess> child;
    bool has_spoken = false;
    std::string failure;  // why it brings no agents any more
    std::string token;    // of agents that connect
  };
  struct Agent {
    std::unique_ptr<AgentLink> link;
    std::unique_ptr<AgentCompiler> compiler;
    std::vector<std::unique_ptr<AgentCard>> cards;
  };

  void serve(Launcher& launcher, const std::stop_token& stop);
  /// Who speaks first over a launcher's streams, and what follows.
  void hear(Launcher& launcher, const std::stop_token& stop);
  void receive_connections(const std::stop_token& stop);
  void greet(Channel channel);
  void admit(Channel channel, const AgentHello& hello, const Launcher* launcher);
  [[nodiscard]] AgentOpened opened_by(AgentLink& link);
  void add(std::unique_ptr<AgentLink> link, const AgentHello& hello, AgentOpened opened);
  void refuse(const std::string& line);
  void note(Launcher& launcher, std::string failure);
  /// Tells a line; before the first agent is there, what is said is part of one message.
  void tell(const std::string& line);
  /// Where agents of a launcher connect to.
  [[nodiscard]] AgentRendezvous rendezvous(Launcher& launcher);
  [[nodiscard]] const Launcher* launcher_with(const std::string& token) const;
  [[nodiscard]] bool all_settled() const;
  [[nodiscard]] int threads_of(const AgentHello& hello);

  AgentPlan plan_;
  const family::Family& family_;
  Tell tell_;
  AgentProgram program_;
  mutable std::mutex mutex_;  // of what follows
  std::condition_variable changed_;
  std::vector<std::unique_ptr<Agent>> agents_;
  std::vector<AgentLink*> opening_;  // not in agents_ yet
  std::vector<std::string> told_;
  bool begun_ = false;                        // the first agent is there
  std::map<std::string, int> on_processors_;  // agents, by host and processors
  int expected_ = 0, settled_ = 0;            // agents that have spoken, and those in or refused
  std::size_t devices_ = 0;
  std::unique_ptr<ConnectionDesk> desk_;
  std::vector<std::unique_ptr<Launcher>> launchers_;
  std::vector<std::jthread> threads_;
};

}  // namespace tuner::worker
