// SPDX-License-Identifier: Apache-2.0
// Agents in the program: launched_agents.cpp where it is built with TUNER_CLUSTER, otherwise
// without_agents.cpp. No other file of cli knows the module cluster.
#pragma once

#include "tuner/cli/model_cards.hpp"
#include "tuner/family/family.hpp"

#include <memory>
#include <span>
#include <string>
#include <vector>

namespace tuner::cli {

struct TuneOptions;

/// The agents that --launch has started, for one command.
class LaunchedAgents {
 public:
  /// Waits for the first. The family must outlive it. Throws Error(usage) for invalid options and
  /// in a program without agents, and as cluster::AgentPool does.
  LaunchedAgents(const TuneOptions& options, const family::Family& family);
  ~LaunchedAgents();
  LaunchedAgents(const LaunchedAgents&) = delete;
  LaunchedAgents& operator=(const LaunchedAgents&) = delete;

  /// By model, those that are there, in the order that they came.
  [[nodiscard]] std::vector<ModelCards> models();

 private:
  class Pool;

  std::shared_ptr<Pool> pool_;  // null in a program without agents
};

/// Whether the words after `tune worker` ask for an agent.
[[nodiscard]] inline bool is_agent(std::span<const std::string> arguments) {
  return arguments.size() == 1 && arguments.front() == "node";
}

/// cluster::agent_main. Throws Error(usage) in a program without agents.
[[nodiscard]] int run_agent();

}  // namespace tuner::cli
