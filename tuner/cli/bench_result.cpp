// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/bench_result.hpp"

#include "tuner/cli/format.hpp"
#include "tuner/cli/table.hpp"
#include "tuner/core/printable.hpp"
#include "tuner/core/quantity.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace tuner::cli {
namespace {

using Align = Table::Align;

constexpr const char* kNone = "–";

bool is_library(const session::BenchContender& contender) {
  return contender.role == "library";
}

std::string configuration(const BenchReport& report, const session::BenchContender& contender) {
  if (is_library(contender)) return report.environment.library;
  const space::SpaceDefinition& definition = *report.kernel.space;
  return space::display(definition,
                        space::config_from_json(definition, contender.trial.config_json));
}

std::string beside_fastest(const session::BenchContender& contender) {
  if (contender.place == session::Place::fastest) return "fastest kernel";
  const store::FinalistRecord& timed = *contender.timed;
  return fmt::format("×{:.3f} ({:.3f}–{:.3f}){}", timed.ratio_to_best, timed.ratio_low,
                     timed.ratio_high, contender.place == session::Place::tied ? " tie" : "");
}

/// Its times, from a cold cache and from a warm one.
std::vector<std::string> time_cells(const BenchReport& report,
                                    const session::BenchContender& contender) {
  if (!contender.timed) return std::vector<std::string>(5, kNone);
  const TimeSummary& time = contender.timed->time;
  return {quantity::time(time.median_ns),
          fmt::format("{}–{}", quantity::time(time.q1_ns), quantity::time(time.q3_ns)),
          quantity::time(*contender.timed->hot_ns),
          format_rate(family::flops_at(report.family.problem, report.size),
                      family::bytes_at(report.family.problem, report.size), time.median_ns),
          beside_fastest(contender)};
}

/// What it needs of the device, and how right it is.
std::vector<std::string> judged_cells(const session::BenchContender& contender) {
  const store::TrialRecord& trial = contender.trial;
  if (is_library(contender) || trial.outcome != Outcome::ok) {
    return std::vector<std::string>(3, kNone);
  }
  return {fmt::format("{}", trial.registers), fmt::format("{} B", trial.shared_bytes),
          trial.worst_error ? quantity::number(*trial.worst_error, 2) : kNone};
}

Json trial_json(const store::TrialRecord& trial) {
  return {{"config", Json::parse(trial.config_json)},
          {"message", trial.message},
          {"registers", trial.registers},
          {"shared_bytes", trial.shared_bytes},
          {"local_bytes", trial.local_bytes},
          {"worst_error", number_or_null(trial.worst_error)}};
}

Json times_json(const store::FinalistRecord& timed) {
  return {{"median_ns", timed.time.median_ns},
          {"q1_ns", timed.time.q1_ns},
          {"q3_ns", timed.time.q3_ns},
          {"min_ns", timed.time.min_ns},
          {"rounds", timed.time.samples},
          {"hot_ns", *timed.hot_ns},
          {"clock_mhz", number_or_null(timed.clock_mhz)},
          {"ratio_to_fastest", timed.ratio_to_best},
          {"ratio_low", timed.ratio_low},
          {"ratio_high", timed.ratio_high}};
}

}  // namespace

std::string bench_text(const BenchReport& report, const Terminal& terminal) {
  Table table({{fmt::format("{} {}", report.kernel.name,
                            space::display(report.size, report.family.problem.dims))},
               {"outcome"},
               {"time", Align::right},
               {"quartiles", Align::right},
               {"hot", Align::right},
               {"rate", Align::right},
               {"vs fastest kernel"},
               {"registers", Align::right},
               {"shared", Align::right},
               {"error/bound", Align::right},
               {"configuration", Align::left, Table::Place::below}});
  std::string failures;
  for (const session::BenchContender& contender : report.result.contenders) {
    const store::TrialRecord& trial = contender.trial;
    std::vector<std::string> row = {contender.role, std::string(name(trial.outcome))};
    for (const auto& cells : {time_cells(report, contender), judged_cells(contender)}) {
      row.insert(row.end(), cells.begin(), cells.end());
    }
    row.push_back(configuration(report, contender));
    table.add(std::move(row));
    if (trial.outcome == Outcome::ok) continue;
    failures += fmt::format("\n{} at {}:\n  {}\n", name(trial.outcome), trial.config_json,
                            printable(trial.message));
  }
  if (!report.result.library_problem.empty()) {
    failures += fmt::format("\n{} could not be timed:\n  {}\n", report.environment.library,
                            printable(report.result.library_problem));
  }
  return table.text(terminal) + failures;
}

Json bench_json(const BenchReport& report) {
  Json contenders = Json::array();
  for (const session::BenchContender& contender : report.result.contenders) {
    Json json = {{"role", contender.role}, {"outcome", name(contender.trial.outcome)}};
    if (!is_library(contender)) json.update(trial_json(contender.trial));
    if (contender.timed) json.update(times_json(*contender.timed));
    if (contender.place) json["place"] = session::name(*contender.place);
    contenders.push_back(std::move(json));
  }
  return {{"schema", "tune.bench/1"},
          {"device", report.device.name},
          {"library", report.environment.library},
          {"family", report.family.name},
          {"kernel", report.kernel.name},
          {"size", space::size_json(report.size, report.family.problem.dims)},
          {"seed", report.seed},
          {"flops", family::flops_at(report.family.problem, report.size)},
          {"bytes", family::bytes_at(report.family.problem, report.size)},
          {"discarded_rounds", report.result.discarded_rounds},
          {"library_problem", report.result.library_problem},
          {"contenders", std::move(contenders)}};
}

}  // namespace tuner::cli
