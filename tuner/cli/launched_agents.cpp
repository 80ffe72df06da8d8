// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/launched_agents.hpp"

#include "tuner/cli/commands.hpp"
#include "tuner/cli/format.hpp"
#include "tuner/cli/output.hpp"
#include "tuner/cluster/agent_main.hpp"
#include "tuner/cluster/agent_pool.hpp"
#include "tuner/core/error.hpp"
#include "tuner/core/shell_words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <set>

namespace tuner::cli {
namespace {

using Seconds = std::chrono::duration<double>;

Seconds seconds(const std::string& text, std::string_view option) {
  const Seconds time = parse_duration(text, option);
  if (time.count() <= 0) {
    throw Error(ErrorCode::usage, fmt::format("{}: {} is no time", option, text));
  }
  return time;
}

cluster::AgentPlan agent_plan(const TuneOptions& options) {
  cluster::AgentPlan plan;
  for (const std::string& line : options.launch) {
    plan.launchers.push_back(shell_words(line));
    if (plan.launchers.back().empty()) {
      throw Error(ErrorCode::usage,
                  "--launch: names no program; write --launch 'ssh HOST' or 'srun -u -k -N4 -n4'");
    }
  }
  plan.seed = options.seed;
  // A node without its GPU is a mistake, not a processor to tune for.
  plan.backend = options.backend == "auto" ? space::kBackends.front().name : options.backend;
  plan.device = options.device;
  plan.compile_timeout = seconds(options.compile_timeout, "--compile-timeout");
  plan.launch_timeout = seconds(options.launch_timeout, "--launch-timeout");
  plan.no_cache = options.no_cache;
  plan.heartbeat = seconds(options.heartbeat, "--heartbeat");
  plan.patience = seconds(options.agent_wait, "--agent-wait");
  plan.compile_threads = options.jobs;
  return plan;
}

session::Card card_of(const cluster::AgentCard& card) {
  return {.name = card.name,
          .device = card.device.get(),
          .compiler = card.compiler,
          .compile_threads = card.compile_threads,
          .host = card.host,
          .job = card.job};
}

}  // namespace

/// The agents, and which of their cards the caller has been told of.
class LaunchedAgents::Pool {
 public:
  Pool(const TuneOptions& options, const family::Family& family)
      : agents_(agent_plan(options), family, [](const std::string& line) { tell(line + "\n"); }) {
    agents_.await_first();
  }

  [[nodiscard]] std::vector<ModelCards> models();

 private:
  [[nodiscard]] std::vector<session::Card> cards_like(const worker::DeviceWorker& model);
  /// Of any model; a card is reported once.
  [[nodiscard]] std::vector<session::Card> new_cards();

  cluster::AgentPool agents_;
  std::set<const cluster::AgentCard*> reported_;
};

std::vector<ModelCards> LaunchedAgents::Pool::models() {
  std::vector<ModelCards> models;
  for (const cluster::AgentCard* const card : agents_.cards()) {
    reported_.insert(card);
    worker::DeviceWorker* const device = card->device.get();
    const bool is_known = std::ranges::any_of(models, [&](const ModelCards& model) {
      return are_of_one_subject(*model.device, *device);
    });
    if (is_known) continue;
    models.push_back({.device = device,
                      .cards = [this, device] { return cards_like(*device); },
                      .joining = [this] { return new_cards(); }});
  }
  return models;
}

std::vector<session::Card> LaunchedAgents::Pool::cards_like(const worker::DeviceWorker& model) {
  std::vector<session::Card> cards;
  for (const cluster::AgentCard* const card : agents_.cards()) {
    if (!are_of_one_subject(*card->device, model)) continue;
    reported_.insert(card);
    cards.push_back(card_of(*card));
  }
  if (cards.empty()) {
    throw Error(ErrorCode::no_device,
                "no agent is left.\n  Results so far are saved; the same command resumes.");
  }
  return cards;
}

std::vector<session::Card> LaunchedAgents::Pool::new_cards() {
  std::vector<session::Card> cards;
  for (const cluster::AgentCard* const card : agents_.cards()) {
    if (reported_.insert(card).second) cards.push_back(card_of(*card));
  }
  return cards;
}

LaunchedAgents::LaunchedAgents(const TuneOptions& options, const family::Family& family)
    : pool_(std::make_shared<Pool>(options, family)) {}

LaunchedAgents::~LaunchedAgents() = default;

std::vector<ModelCards> LaunchedAgents::models() {
  return pool_->models();
}

int run_agent() {
  return cluster::agent_main();
}

}  // namespace tuner::cli
