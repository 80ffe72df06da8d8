// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/explained_winner.hpp"

#include "tuner/backend/disassembly.hpp"
#include "tuner/cli/output.hpp"
#include "tuner/core/error.hpp"
#include "tuner/core/flop_rates.hpp"
#include "tuner/core/printable.hpp"
#include "tuner/core/quantity.hpp"
#include "tuner/family/candidate.hpp"
#include "tuner/session/earlier_winners.hpp"
#include "tuner/session/trial_record.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <optional>
#include <variant>
#include <vector>

namespace tuner::cli {
namespace {

using session::ExplainedContender;

const ExplainedContender& best_of(const ExplainReport& report) {
  return report.result.contenders.front();
}

/// "+21 % time", "×2.40 the time", "same time" beside the best one.
std::string time_beside_best(const ExplainedContender& contender) {
  if (!contender.timed) {
    return contender.trial.outcome == Outcome::ok ? "not timed"
                                                  : std::string(name(contender.trial.outcome));
  }
  constexpr double kManyTimes = 2, kFewPercent = 10;
  const store::FinalistRecord& timed = *contender.timed;
  if (timed.ratio_low < measure::kTieFactor && timed.ratio_high > 1 / measure::kTieFactor) {
    return "same time";
  }
  if (timed.ratio_to_best >= kManyTimes)
    return fmt::format("×{:.2f} the time", timed.ratio_to_best);
  const double percent = 100 * (timed.ratio_to_best - 1);
  return std::abs(percent) < kFewPercent ? fmt::format("{:+.1f} % time", percent)
                                         : fmt::format("{:+.0f} % time", percent);
}

std::vector<std::string> differences_from_best(const ExplainReport& report,
                                               const ExplainedContender& contender) {
  if (&contender == &best_of(report)) return {};
  return counters::differences(contender.profile, best_of(report).profile);
}

/// The value of a neighbour's parameter in a configuration.
const std::string& value_of(const ExplainReport& report, const ExplainedContender& neighbour,
                            const space::Config& config) {
  const std::size_t parameter = *neighbour.parameter;
  return report.kernel.space->parameters[parameter].values[config.choice[parameter]].text;
}

/// "PAD 4 → 0: 2.3 bank conflicts a request instead of 0.0, +21 %".
std::string neighbour_line(const ExplainReport& report, const ExplainedContender& neighbour) {
  std::vector<std::string> parts = differences_from_best(report, neighbour);
  parts.push_back(time_beside_best(neighbour));
  return fmt::format("  {} {} → {}: {}\n",
                     report.kernel.space->parameters[*neighbour.parameter].name,
                     value_of(report, neighbour, *best_of(report).config),
                     value_of(report, neighbour, *neighbour.config), fmt::join(parts, ", "));
}

std::string bound_of(const ExplainedContender& contender) {
  return contender.profile.counters ? counters::bound_sentence(*contender.profile.counters) : "";
}

std::string configuration_of(const ExplainReport& report, const ExplainedContender& contender) {
  return space::display(*report.kernel.space, *contender.config);
}

std::string best_lines(const ExplainReport& report) {
  const ExplainedContender& best = best_of(report);
  const std::string bound = bound_of(best);
  std::string text = bound.empty() ? fmt::format("limiter: unknown: {}\n",
                                                 report.result.counters_problem.empty()
                                                     ? "not counted"
                                                     : printable(report.result.counters_problem))
                                   : fmt::format("limiter: {}\n", bound);
  std::vector<std::string> of_best;
  if (std::string configuration = configuration_of(report, best); !configuration.empty())
    of_best.push_back(std::move(configuration));
  if (best.timed) of_best.push_back(quantity::time(best.timed->time.median_ns));
  return text + fmt::format("best: {}\n", fmt::join(of_best, ", "));
}

std::string neighbour_lines(const ExplainReport& report) {
  std::string lines;
  for (const ExplainedContender& contender : report.result.contenders) {
    if (contender.role == "neighbour") lines += neighbour_line(report, contender);
  }
  if (lines.empty()) {
    return "one parameter changed: no such configuration has a result of this source, driver and "
           "compiler; run `tune` first\n";
  }
  return "one parameter changed:\n" + lines;
}

std::string default_lines(const ExplainReport& report, const ExplainedContender& contender) {
  std::vector<std::string> parts = {time_beside_best(contender)};
  if (contender.trial.outcome == Outcome::ok && contender.profile.footprint) {
    parts.push_back(
        counters::resources_sentence(*contender.profile.footprint, contender.profile.occupancy));
  }
  if (const std::string bound = bound_of(contender); !bound.empty()) parts.push_back(bound);
  return fmt::format("default: {}\n  {}\n", configuration_of(report, contender),
                     fmt::join(parts, "; "));
}

std::string library_lines(const ExplainReport& report, const ExplainedContender& contender) {
  std::vector<std::string> parts = {time_beside_best(contender)};
  if (const std::string bound = bound_of(contender); !bound.empty()) parts.push_back(bound);
  const auto differences = differences_from_best(report, contender);
  if (!differences.empty()) parts.push_back(fmt::format("{}", fmt::join(differences, ", ")));
  return fmt::format("library, {}: {}\n", report.environment.library, fmt::join(parts, "; "));
}

/// Where the best one is in the roofline model; empty where that is not known.
std::string roofline_of(const ExplainReport& report) {
  const auto& timed = best_of(report).timed;
  return timed ? counters::roofline_sentence(report.result.roofline, timed->time.median_ns) : "";
}

std::string best_details(const ExplainReport& report) {
  const counters::Profile& best = best_of(report).profile;
  std::string text;
  if (const std::string roofline = roofline_of(report); !roofline.empty()) {
    text += fmt::format("roofline: {}\n", roofline);
  }
  text +=
      fmt::format("resources: {}\n", counters::resources_sentence(*best.footprint, best.occupancy));
  if (best.instructions) {
    text += fmt::format("machine code: {}\n", counters::instructions_sentence(*best.instructions));
  }
  return text;
}

Json roofline_json(const ExplainReport& report) {
  const counters::Roofline& roofline = report.result.roofline;
  const auto known = [](double value) { return value > 0 ? Json(value) : Json(); };
  const auto& timed = best_of(report).timed;
  return {{"flops", roofline.flops},
          {"bytes", roofline.bytes},
          {"peak_flops_per_s", known(roofline.peak_flops_per_s)},
          {"peak_bytes_per_s", known(roofline.peak_bytes_per_s)},
          {"share_of_roof",
           timed ? known(counters::share_of_roof(roofline, timed->time.median_ns)) : Json()}};
}

Json instructions_json(const std::optional<counters::InstructionMix>& mix) {
  if (!mix) return {};
  Json json = Json::object();
  for (const counters::InstructionField& field : counters::instruction_fields()) {
    json[std::string(field.name)] = (*mix).*field.member;
  }
  return json;
}

Json footprint_json(const counters::Profile& profile) {
  if (!profile.footprint) return {};
  Json json = {{"registers", profile.footprint->registers},
               {"shared_bytes", profile.footprint->shared_bytes},
               {"local_bytes", profile.footprint->local_bytes}};
  if (profile.footprint->threads > 0) json["threads"] = profile.footprint->threads;
  if (profile.occupancy) {
    json["occupancy"] = {{"blocks", profile.occupancy->blocks},
                         {"warps_percent", profile.occupancy->warps_percent},
                         {"limit", profile.occupancy->limit}};
  }
  return json;
}

Json counters_json(const std::optional<counters::Counters>& counters) {
  if (!counters) return {};
  Json json = Json::object();
  for (const counters::CounterField& field : counters::counter_fields()) {
    json[std::string(field.name)] = (*counters).*field.member;
  }
  json["conflicts_per_request"] = counters::conflicts_per_request(*counters);
  return json;
}

Json contender_json(const ExplainReport& report, const ExplainedContender& contender) {
  Json json = {{"role", contender.role}, {"outcome", name(contender.trial.outcome)}};
  if (contender.config) {
    json["config"] = parse_json(space::canonical_json(*report.kernel.space, *contender.config),
                                "a configuration");
  }
  if (contender.parameter) {
    json["parameter"] = report.kernel.space->parameters[*contender.parameter].name;
    json["from"] = value_of(report, contender, *best_of(report).config);
    json["to"] = value_of(report, contender, *contender.config);
  }
  if (contender.timed) {
    json["median_ns"] = contender.timed->time.median_ns;
    json["ratio_to_best"] = contender.timed->ratio_to_best;
    json["ratio_low"] = contender.timed->ratio_low;
    json["ratio_high"] = contender.timed->ratio_high;
  }
  const std::string bound = bound_of(contender);
  json["limiter"] = bound.empty() ? Json() : Json(bound);
  json["differences"] = differences_from_best(report, contender);
  json["resources"] = footprint_json(contender.profile);
  json["counters"] = counters_json(contender.profile.counters);
  json["instructions"] = instructions_json(contender.profile.instructions);
  return json;
}

}  // namespace

std::string explain_text(const ExplainReport& report) {
  std::string text = fmt::format("{} {} on {}\n", report.kernel.name,
                                 space::display(report.size, report.family.problem.dims),
                                 printable(report.device.name));
  text += best_lines(report) + neighbour_lines(report);
  const ExplainedContender& best = best_of(report);
  text += best_details(report);
  for (const ExplainedContender& contender : report.result.contenders) {
    if (contender.role == "default") text += default_lines(report, contender);
    if (contender.role == "library") text += library_lines(report, contender);
  }
  if (!report.result.library_problem.empty()) {
    text += fmt::format("{} could not be timed: {}\n", report.environment.library,
                        printable(report.result.library_problem));
  }
  if (best.profile.counters && !report.result.counters_problem.empty()) {
    text += fmt::format("counters are missing: {}\n", printable(report.result.counters_problem));
  }
  return text;
}

Json explain_json(const ExplainReport& report) {
  Json contenders = Json::array();
  for (const ExplainedContender& contender : report.result.contenders) {
    contenders.push_back(contender_json(report, contender));
  }
  const std::string bound = bound_of(best_of(report));
  return {{"schema", "tune.explain/1"},
          {"device", report.device.name},
          {"library", report.environment.library},
          {"family", report.family.name},
          {"kernel", report.kernel.name},
          {"size", space::size_json(report.size, report.family.problem.dims)},
          {"limiter", bound.empty() ? Json() : Json(bound)},
          {"roofline", roofline_json(report)},
          {"counters_problem", report.result.counters_problem},
          {"library_problem", report.result.library_problem},
          {"contenders", std::move(contenders)}};
}

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
  return {.size = size,
          .best = *best,
          .trials = store.known_trials(subject, space::canonical_size(size, family.problem.dims)),
          .compile_threads = spare_cores(),
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
