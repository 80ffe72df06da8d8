// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/explained_winner.hpp"

#include "tuner/backend/disassembly.hpp"
#include "tuner/cli/explain_result.hpp"
#include "tuner/cli/output.hpp"
#include "tuner/core/error.hpp"
#include "tuner/core/flop_rates.hpp"
#include "tuner/family/candidate.hpp"
#include "tuner/session/earlier_winners.hpp"
#include "tuner/session/explanation.hpp"
#include "tuner/session/trial_record.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <thread>
#include <variant>

namespace tuner::cli {
namespace {

/// Of one multiprocessor in a cycle: the fastest unit that any of the family's results could be of;
/// 0 where that is not known.
double nominal_rate(const family::Family& family, const space::Size& size,
                    const space::DeviceAttributes& device) {
  const space::ExpressionValues values = family::family_values(size);
  double rate = 0;
  for (const family::Argument& argument : family.arguments) {
    const auto* buffer = std::get_if<family::BufferArgument>(&argument.what);
    if (buffer == nullptr) continue;
    rate = std::max(
        rate,
        nominal_flops_per_cycle(device.compute_capability, buffer->type.at(values)).value_or(0));
  }
  return rate;
}

session::ExplanationPlan explanation_plan(const store::Store& store, const family::Family& family,
                                          const family::Kernel& kernel, const space::Size& size,
                                          worker::DeviceProcess& device) {
  const std::string shown = space::display(size, family.problem.dims);
  const auto best = session::incumbent(store, family, kernel, device.device(), size);
  if (!best) {
    throw Error(ErrorCode::nothing_found,
                fmt::format("{} has no result for kernel {} at {} on {}; `tune` finds one",
                            store.path().string(), kernel.name, shown, device.device().name));
  }
  const space::DeviceAttributes& has = device.device().attributes;
  const space::BoundDefinition space(kernel.space, has, size);
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
          .compile_threads = cores - 1,
          .roofline = {.flops = family::flops_at(family.problem, size),
                       .bytes = family::bytes_at(family.problem, size),
                       .peak_bytes_per_s = device.start_up().peak_bytes_per_s},
          .flops_per_cycle = nominal_rate(family, size, has) * static_cast<double>(has.sm_count),
          .instructions = space::runs_on_host(device.device().backend)
                              ? decltype(session::ExplanationPlan::instructions)()
                              : backend::instructions_of};
}

/// The explanation is shown all the same where it cannot be stored.
void keep(store::Store& store, const ExplainReport& report) {
  try {
    const bool kept = session::store_explanation(store, report.family, report.kernel, report.device,
                                                 report.size, report.result);
    if (!kept) {
      tell("not stored: the best configuration is of another version of the kernel's source\n");
    }
  } catch (const Error& error) {
    tell(fmt::format("not stored: {}\n", error.what()));
  }
}

}  // namespace

ExplainedWinner explain_winner(store::Store& store, const family::Family& family,
                               const family::Kernel& kernel, const space::Size& size,
                               OpenedDevice& opened, const std::function<bool()>& stop) {
  worker::DeviceProcess& device = opened.device();
  const session::ExplanationPlan plan = explanation_plan(store, family, kernel, size, device);
  const session::Explanation result =
      session::explain(kernel, plan, device, opened.compiler(), stop);
  const ExplainReport report{.family = family,
                             .kernel = kernel,
                             .size = size,
                             .device = device.device(),
                             .environment = device.environment(),
                             .result = result};
  if (!stop()) keep(store, report);
  return {.text = explain_text(report), .document = explain_json(report)};
}

}  // namespace tuner::cli
