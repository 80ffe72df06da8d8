// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/cli/commands.hpp"
#include "tuner/cli/model_cards.hpp"
#include "tuner/family/family.hpp"
#include "tuner/worker/agent_pool.hpp"

#include <set>
#include <vector>

namespace tuner::cli {

/// The agents that --launch has started, for one command.
class LaunchedAgents {
 public:
  /// Waits for the first. The family must outlive it. Throws Error(usage) for options that are
  /// none, and as AgentPool does.
  LaunchedAgents(const TuneOptions& options, const family::Family& family);

  /// By model, those that are there, in the order that they came.
  [[nodiscard]] std::vector<ModelCards> models();

 private:
  [[nodiscard]] std::vector<session::Card> cards_like(const worker::DeviceWorker& model);
  /// Of any model; a card is reported once.
  [[nodiscard]] std::vector<session::Card> new_cards();

  worker::AgentPool pool_;
  std::set<const worker::AgentCard*> known_;
};

}  // namespace tuner::cli
