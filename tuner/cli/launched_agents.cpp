// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/launched_agents.hpp"

#include "tuner/cli/format.hpp"
#include "tuner/cli/output.hpp"
#include "tuner/core/error.hpp"
#include "tuner/core/shell_words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

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

worker::AgentPlan agent_plan(const TuneOptions& options) {
  worker::AgentPlan plan;
  for (const std::string& line : options.launch) {
    plan.launchers.push_back(shell_words(line));
    if (plan.launchers.back().empty()) {
      throw Error(ErrorCode::usage,
                  "--launch: names no program; write --launch 'ssh HOST' or 'srun -u -k -N4 -n4'");
    }
  }
  plan.seed = options.seed;
  // A node without its GPU is a mistake, not a processor to tune for.
  plan.backend = options.backend == "auto" ? "cuda" : options.backend;
  plan.device = options.device;
  plan.compile_timeout = seconds(options.compile_timeout, "--compile-timeout");
  plan.launch_timeout = seconds(options.launch_timeout, "--launch-timeout");
  plan.no_cache = options.no_cache;
  plan.heartbeat = seconds(options.heartbeat, "--heartbeat");
  plan.patience = seconds(options.agent_wait, "--agent-wait");
  plan.compile_threads = options.jobs;
  return plan;
}

session::Card card_of(const worker::AgentCard& card) {
  return {.name = card.name,
          .device = card.device.get(),
          .compiler = card.compiler,
          .compile_threads = card.compile_threads,
          .host = card.host,
          .job = card.job};
}

}  // namespace

LaunchedAgents::LaunchedAgents(const TuneOptions& options, const family::Family& family)
    : pool_(agent_plan(options), family, [](const std::string& line) { tell(line + "\n"); }) {
  pool_.await_first();
}

std::vector<ModelCards> LaunchedAgents::models() {
  std::vector<ModelCards> models;
  for (const worker::AgentCard* const card : pool_.cards()) {
    known_.insert(card);
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

std::vector<session::Card> LaunchedAgents::cards_like(const worker::DeviceWorker& model) {
  std::vector<session::Card> cards;
  for (const worker::AgentCard* const card : pool_.cards()) {
    if (!are_of_one_subject(*card->device, model)) continue;
    known_.insert(card);
    cards.push_back(card_of(*card));
  }
  if (cards.empty()) {
    throw Error(ErrorCode::no_device,
                "no agent is left.\n  Results so far are saved; the same command resumes.");
  }
  return cards;
}

std::vector<session::Card> LaunchedAgents::new_cards() {
  std::vector<session::Card> cards;
  for (const worker::AgentCard* const card : pool_.cards()) {
    if (known_.insert(card).second) cards.push_back(card_of(*card));
  }
  return cards;
}

}  // namespace tuner::cli
