// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/commands.hpp"
#include "tuner/cli/database.hpp"
#include "tuner/cli/explain_result.hpp"
#include "tuner/cli/interrupt.hpp"
#include "tuner/cli/kernel_choice.hpp"
#include "tuner/cli/opened_device.hpp"
#include "tuner/cli/output.hpp"
#include "tuner/cli/reproduction.hpp"
#include "tuner/core/error.hpp"
#include "tuner/session/earlier_winners.hpp"
#include "tuner/session/explanation.hpp"
#include "tuner/session/kernel_record.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <thread>

namespace tuner::cli {
namespace {

/// The space file asked for, else that of the kernel's newest run, whose command may have been
/// typed in another folder.
std::string chosen_space(const ExplainOptions& options, const store::Store& store) {
  if (!options.space.empty()) return options.space;
  if (options.kernel.empty()) {
    throw Error(ErrorCode::usage,
                "which kernel? For example\n"
                "  tune explain --kernel gemm_shared --size 4096,4096,4096");
  }
  for (const store::RunRecord& run : store.runs()) {
    if (run.kernel != options.kernel) continue;
    const std::string file = space_file_of(run);
    if (std::filesystem::exists(file)) return file;
  }
  throw Error(ErrorCode::usage,
              fmt::format("no run in {} has a space file that exists here: name one with --space",
                          options.kernel));
}

session::ExplanationPlan explanation_plan(const store::Store& store, const family::Family& family,
                                          const family::Kernel& kernel, const space::Size& size,
                                          worker::DeviceWorker& device) {
  const std::string shown = space::display(size, family.problem.dims);
  const auto best = session::incumbent(store, family, kernel, device.device(), size);
  if (!best) {
    throw Error(ErrorCode::nothing_found,
                fmt::format("{} has no result for kernel {} at {} on {}; `tune` finds one",
                            store.path().string(), kernel.name, shown, device.device().name));
  }
  const space::BoundDefinition space(kernel.space, device.device().attributes, size);
  if (const auto violation = space.violation(*best)) {
    throw Error(ErrorCode::no_valid_config,
                fmt::format("the best configuration stored for {} is no longer valid at {}: {}",
                            kernel.name, shown, violation->message));
  }
  const store::Subject subject{.device = device.device(),
                               .environment = device.environment(),
                               .kernel = session::kernel_record(family, kernel),
                               .check_hash = family::check_hash(family, kernel)};
  const int cores = static_cast<int>(std::max(2U, std::thread::hardware_concurrency()));
  return {.size = size,
          .best = *best,
          .trials = store.known_trials(subject, space::canonical_size(size, family.problem.dims)),
          .compile_threads = cores - 1};
}

}  // namespace

int explain(const CommonOptions& common, const ExplainOptions& options) {
  const store::Store store = open_database(common, store::Store::Mode::read_only);
  const family::Family family = family::load_family(chosen_space(options, store));
  const family::Kernel& kernel = chosen_kernel(
      family, options.kernel.empty() ? std::vector<std::string>() : std::vector{options.kernel});
  const space::Size size = chosen_size(family, options.size);
  constexpr std::uint64_t kSeed = 0;
  OpenedDevice opened(options, family, kSeed);
  worker::DeviceProcess& device = opened.device();
  require_backend(kernel, device.device().backend);
  const session::ExplanationPlan plan = explanation_plan(store, family, kernel, size, device);
  const Interrupt interrupt;
  const session::Explanation result = session::explain(kernel, plan, device, opened.compiler(),
                                                       [&] { return interrupt.requested(); });
  const ExplainReport report{.family = family,
                             .kernel = kernel,
                             .size = size,
                             .device = device.device(),
                             .environment = device.environment(),
                             .result = result};
  if (common.json) {
    fmt::print("{}", json_text(explain_json(report)));
  } else {
    const Output output(common);
    output.tell("{}", explain_text(report));
  }
  return interrupt.exit_code().value_or(0);
}

}  // namespace tuner::cli
