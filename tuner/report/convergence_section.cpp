// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/format.hpp"
#include "tuner/report/importance.hpp"
#include "tuner/report/size_sections.hpp"
#include "tuner/report/table.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

namespace tuner::report {
namespace {

constexpr double kWorthwhile = 1.01;  // an improvement that would have been missed
constexpr double kLastShare = 0.2;    // of a run's trials
constexpr std::size_t kMostRunsNamed = 3;

double fastest_ns(const SizeHistory& size) {
  double best_ns = HUGE_VAL;
  for (const SearchRun& run : size.searches) {
    if (!run.improvements.empty()) {
      best_ns = std::min(best_ns, run.improvements.back().ns);
    }
  }
  return best_ns;
}

const Improvement* first_near(const SearchRun& run, double ns) {
  const auto found =
      std::ranges::find_if(run.improvements, [ns](const Improvement& it) { return it.ns <= ns; });
  return found == run.improvements.end() ? nullptr : &*found;
}

std::uint64_t whole(double count) {
  return static_cast<std::uint64_t>(count);
}

/// "after 63 of 400 trials (12 s of 90 s)".
std::string nearness(const SearchRun& run, double ns) {
  const Improvement* near = first_near(run, ns);
  if (near == nullptr) {
    return fmt::format("not in {}", format_plural(whole(run.candidates), "trial", "trials"));
  }
  return fmt::format("after {} of {} ({} of {})", format_count(whole(near->candidates)),
                     format_plural(whole(run.candidates), "trial", "trials"),
                     format_duration(near->seconds - run.began_s),
                     format_duration(run.seconds - run.began_s));
}

std::string answer_of(const SizeHistory& size) {
  if (size.searches.empty()) return "The results were imported: no run here.";
  const double best_ns = fastest_ns(size);
  if (best_ns == HUGE_VAL) return "No trial succeeded.";
  const std::size_t count = size.searches.size();
  std::string text = "Within 5\u00a0% of the fastest: ";
  const std::size_t first = count - std::min(count, kMostRunsNamed);
  for (std::size_t i = count; i-- > first;) {
    const SearchRun& run = size.searches[i];
    if (count > 1) text += fmt::format("run {} ", run.run);
    text += nearness(run, kNear * best_ns) + (i > first ? "; " : ".");
  }
  if (first > 0) {
    text += fmt::format(" {} before them in the table.", format_plural(first, "run", "runs"));
  }
  const SearchRun& latest = size.searches.back();
  switch (convergence_of(latest)) {
    case Convergence::converged:
      break;
    case Convergence::exhausted:
      text += " Every configuration was tried.";
      break;
    case Convergence::few_trials:
      text += fmt::format(" Fewer than {} trials: more may find a faster one.", kFewestTrials);
      break;
    case Convergence::improving:
      text +=
          " The best still improved in the last fifth of the trials: more may find a faster one.";
      break;
  }
  return text;
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
  Json section = make_section("convergence", "Convergence", answer_of(size), std::move(table));
  section["runs"] = std::move(runs);
  section["marks"] = marks_of(size);
  return section;
}

}  // namespace tuner::report
