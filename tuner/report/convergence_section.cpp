// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/importance.hpp"
#include "tuner/report/size_sections.hpp"
#include "tuner/report/table.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cmath>

namespace tuner::report {
namespace {

constexpr double kWorthwhile = 1.01;  // an improvement that would have been missed
constexpr double kLastShare = 0.2;    // of a run's trials

std::uint64_t whole(double count) {
  return static_cast<std::uint64_t>(count);
}

}  // namespace

std::string_view name(Convergence convergence) {
  switch (convergence) {
    case Convergence::exhausted:
      return "exhausted";
    case Convergence::few_trials:
      return "few_trials";
    case Convergence::improving:
      return "improving";
    case Convergence::converged:
      break;
  }
  return "converged";
}

Convergence convergence_of(const SearchRun& run) {
  if (run.exhausted) return Convergence::exhausted;
  if (run.candidates < kFewestTrials) return Convergence::few_trials;
  const auto before =
      run.best_by(ProgressAxis::candidates, std::floor((1 - kLastShare) * run.candidates));
  const auto last = run.best_by(ProgressAxis::candidates, run.candidates);
  if (!last) return Convergence::converged;
  return !before || *before >= kWorthwhile * *last ? Convergence::improving
                                                   : Convergence::converged;
}

Json convergence_section(const KernelHistory& kernel, const SizeHistory& size) {
  Json table = make_table({{"run", "Run", "code"},
                           {"strategy", "Strategy", "text"},
                           {"trial", "Trial", "count"},
                           {"elapsed_s", "After", "duration"},
                           {"ns", fmt::format("Time, {}", measure_of_trials(size)), "time"},
                           {"config", "Configuration", "code"}});
  Json runs = Json::array();
  for (const SearchRun& run : size.searches) {
    for (const Improvement& step : run.improvements) {
      const ConfigValues values = kernel.configs.values(step.config);
      table["rows"].push_back({run.run, run.strategy, whole(step.candidates),
                               rounded(step.seconds - run.began_s), rounded(step.ns),
                               config_text(kernel.parameters, values)});
    }
    runs.push_back(Json{{"run", run.run},
                        {"strategy", run.strategy},
                        {"trials", whole(run.candidates)},
                        {"elapsed_s", rounded(run.seconds - run.began_s)},
                        {"state", name(convergence_of(run))}});
  }
  Json section = make_section("convergence", std::move(table));
  section["runs"] = std::move(runs);
  section["marks"] = marks_of(size);
  return section;
}

}  // namespace tuner::report
