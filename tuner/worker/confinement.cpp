// SPDX-License-Identifier: Apache-2.0
#include "tuner/worker/confinement.hpp"

#include "tuner/core/environment.hpp"
#include "tuner/core/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <vector>

namespace tuner::worker {
namespace {

bool is_injected() {
  constexpr std::array kVariables = {"LD_PRELOAD", "CUDA_INJECTION64_PATH",
                                     "NVTX_INJECTION64_PATH"};
  return std::ranges::any_of(kVariables,
                             [](const char* name) { return !environment_variable(name).empty(); });
}

}  // namespace

std::optional<SandboxSupport> worker_sandbox() {
  const std::string asked = environment_variable("TUNER_SANDBOX");
  if (asked == "off") return std::nullopt;
  if (!asked.empty()) {
    throw Error(ErrorCode::usage, fmt::format("TUNER_SANDBOX={}: must be unset, or 'off'", asked));
  }
  return sandbox_support();
}

void confine_worker(const std::filesystem::path& cache, OutsideAccess outside) {
  if (!worker_sandbox() || is_injected()) return;
  ::setenv("CCACHE_DISABLE", "1", 1);  // its folder is none of these
  std::vector<std::filesystem::path> writable = {environment_variable("TMPDIR")};
  if (!cache.empty()) writable.push_back(cache);
  confine_process(writable, outside);
}

}  // namespace tuner::worker
