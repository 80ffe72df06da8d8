// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/backend/backend.hpp"
#include "tuner/family/family.hpp"
#include "tuner/worker/device_worker.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace tuner::cluster {

/// What starts agents, and what they are to open.
struct AgentPlan {
  /// Programs with their arguments. `tune worker node`, by the path of this program, is added to
  /// one that does not end with `worker node`.
  std::vector<std::vector<std::string>> launchers;
  std::uint64_t seed = 0;
  std::string backend;
  std::string device;  ///< as chosen_devices reads it
  std::chrono::duration<double> compile_timeout{60}, launch_timeout{10};
  bool no_cache = false;
  std::chrono::duration<double> heartbeat{10};
  std::chrono::duration<double> patience{60};  ///< until there is an agent
  int compile_threads = 0;                     ///< of each agent; 0: its share of its processors
};

/// A device of an agent, and where it is compiled for.
struct AgentCard {
  std::string name;       ///< in the order that they came: "0"
  std::string host, job;  ///< of the agent; a job of a batch system or empty
  std::unique_ptr<worker::DeviceWorker> device;
  const backend::Compiler* compiler;  ///< of the agent; all of its devices share it
  int compile_threads;
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
  class Agents;

  const std::unique_ptr<Agents> agents_;
};

}  // namespace tuner::cluster
