// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/launched_agents.hpp"
#include "tuner/core/error.hpp"

#include <string_view>

namespace tuner::cli {
namespace {

[[noreturn]] void fail_without_agents(std::string_view what) {
  throw Error(ErrorCode::usage,
              std::string(what) +
                  ": this program was built without agents; install one that was built with "
                  "-DTUNER_CLUSTER=ON, or tune on each machine and join with `tune merge`");
}

}  // namespace

LaunchedAgents::LaunchedAgents(const TuneOptions& /*options*/, const family::Family& /*family*/) {
  fail_without_agents("--launch");
}

LaunchedAgents::~LaunchedAgents() = default;

std::vector<ModelCards> LaunchedAgents::models() {
  return {};
}

int run_agent() {
  fail_without_agents("`tune worker node`");
}

}  // namespace tuner::cli
