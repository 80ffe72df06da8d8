// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/kernel_runs.hpp"

#include "tuner/core/quantity.hpp"
#include "tuner/core/series_share.hpp"
#include "tuner/session/trial_record.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>
#include <span>

namespace tuner::cli {
namespace {

using session::KernelTimes;
using session::Standing;

double importance(const TuningTask& task, std::size_t size) {
  return task.importance.empty() ? 1.0 : task.importance[size];
}

double importance(const TuningTask& task) {
  double sum = 0;
  for (std::size_t i = 0; i < task.sizes.size(); ++i) sum += importance(task, i);
  return sum;
}

/// The part of the time that is for the first of the tasks.
double share_of_first(std::span<const TuningTask> tasks) {
  const double all =
      std::accumulate(tasks.begin(), tasks.end(), 0.0,
                      [](double sum, const TuningTask& task) { return sum + importance(task); });
  return importance(tasks.front()) / all;
}

KernelTimes times_of(const session::RunResult& result) {
  KernelTimes times;
  for (const session::SizeResult& size : result.sizes) {
    if (size.best) times[size.size] = store::ranking_ns(*size.best);
  }
  return times;
}

bool takes(const TuningTask& task, const space::Size& size) {
  return std::ranges::find(task.sizes, size) != task.sizes.end();
}

/// By task: the importance of the sizes at which it is the fastest.
std::vector<double> importance_led(const std::vector<TuningTask>& tasks,
                                   std::span<const Standing> standings) {
  std::vector<double> led(tasks.size());
  for (const Standing& standing : standings) {
    const std::size_t first = standing.places.front().kernel;
    const TuningTask& task = tasks[first];
    const auto place = std::ranges::find(task.sizes, standing.size) - task.sizes.begin();
    led[first] += importance(task, static_cast<std::size_t>(place));
  }
  return led;
}

/// Whether a task goes on at a size. Where no kernel has a time that is the one which leads most
/// elsewhere, or all of them where none leads.
bool goes_on(const std::vector<TuningTask>& tasks, std::size_t kernel, const space::Size& size,
             std::span<const Standing> standings, std::span<const double> led) {
  const auto standing = std::ranges::find(standings, size, &Standing::size);
  if (standing != standings.end()) {
    const auto near = std::span(standing->places).first(standing->going_on);
    return std::ranges::find(near, kernel, &Standing::Place::kernel) != near.end();
  }
  std::size_t first = kernel;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    if (takes(tasks[i], size) && (led[i] > led[first] || (led[i] == led[first] && i < first))) {
      first = i;
    }
  }
  return first == kernel || led[first] == 0;
}

std::vector<TuningTask> tasks_going_on(const std::vector<TuningTask>& tasks,
                                       std::span<const Standing> standings) {
  const std::vector<double> led = importance_led(tasks, standings);
  std::vector<std::size_t> order(tasks.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::greater(), [&](std::size_t i) { return led[i]; });
  std::vector<TuningTask> result;
  for (const std::size_t kernel : order) {
    const TuningTask& task = tasks[kernel];
    TuningTask going{.kernel = task.kernel, .sizes = {}, .continued = task.continued};
    for (std::size_t i = 0; i < task.sizes.size(); ++i) {
      if (!goes_on(tasks, kernel, task.sizes[i], standings, led)) continue;
      going.sizes.push_back(task.sizes[i]);
      if (!task.importance.empty()) going.importance.push_back(task.importance[i]);
    }
    if (!going.sizes.empty()) result.push_back(std::move(going));
  }
  return result;
}

/// Without the sizes at which the kernel has a time.
TuningTask without(const TuningTask& task, const KernelTimes& times) {
  TuningTask rest{.kernel = task.kernel, .sizes = {}};
  for (std::size_t i = 0; i < task.sizes.size(); ++i) {
    if (times.contains(task.sizes[i])) continue;
    rest.sizes.push_back(task.sizes[i]);
    if (!task.importance.empty()) rest.importance.push_back(task.importance[i]);
  }
  return rest;
}

std::string text_of(const std::vector<TuningTask>& tasks, const Standing& standing) {
  std::vector<std::string> near, behind;
  const double best_ns = standing.places.front().time_ns;
  for (std::size_t i = 0; i < standing.places.size(); ++i) {
    const auto& [kernel, time_ns] = standing.places[i];
    const std::string& name = tasks[kernel].kernel.name;
    (i < standing.going_on ? near : behind)
        .push_back(i == 0 ? fmt::format("{} {}", name, quantity::time(time_ns))
                          : fmt::format("{} ×{:.2f}", name, time_ns / best_ns));
  }
  const std::string size = space::display(standing.size, tasks.front().kernel.space->dims);
  return fmt::format("  {}: {}{}\n", size, fmt::join(near, ", "),
                     behind.empty() ? "" : fmt::format("; behind: {}", fmt::join(behind, ", ")));
}

Json document_of(const std::vector<TuningTask>& tasks, std::span<const Standing> standings) {
  Json sizes = Json::array();
  for (const Standing& standing : standings) {
    Json kernels = Json::array();
    for (std::size_t i = 0; i < standing.places.size(); ++i) {
      const auto& [kernel, time_ns] = standing.places[i];
      kernels.push_back({{"kernel", tasks[kernel].kernel.name},
                         {"median_ns", time_ns},
                         {"goes_on", i < standing.going_on}});
    }
    sizes.push_back({{"size", space::size_json(standing.size, tasks.front().kernel.space->dims)},
                     {"kernels", std::move(kernels)}});
  }
  return sizes;
}

}  // namespace

KernelTimes KernelRuns::known_times(const TuningTask& task, const session::RunPlan& plan) const {
  KernelTimes times;
  if (plan.resume == session::Resume::no) return times;
  const store::Subject subject{.device = model_.device->device(),
                               .environment = model_.device->environment(),
                               .kernel = session::kernel_record(family_, task.kernel),
                               .check_hash = family::check_hash(family_, task.kernel)};
  for (const space::Size& size : task.sizes) {
    const std::string problem = space::canonical_size(size, family_.problem.dims);
    const auto trials = store_.known_trials(subject, problem);
    SeriesShare share;
    for (const auto& [config, trial] : trials) {
      if (trial.time) share.learn(trial.time->median_ns, trial.series_ns);
    }
    for (const auto& [config, trial] : trials) {
      if (!trial.time) continue;
      const double ns = share.ranking_ns(trial.time->median_ns, trial.series_ns);
      const auto [known, first] = times.try_emplace(size, ns);
      if (!first) known->second = std::min(known->second, ns);
    }
  }
  return times;
}

FirstRound KernelRuns::first_round(const std::vector<TuningTask>& tasks,
                                   const session::RunPlan& plan, const session::TimeBudget& time) {
  constexpr double kShare = 0.4;
  constexpr std::uint64_t kPatience = 20;
  const session::TimeBudget its_time = time.part(kShare);
  std::vector<TuningTask> order = tasks;
  std::ranges::stable_partition(
      order, [](const TuningTask& task) { return task.kernel.backends.size() == 1; });
  std::vector<KernelTimes> times;
  std::vector<TuningTask> unknown;
  for (const TuningTask& task : order) {
    times.push_back(known_times(task, plan));
    unknown.push_back(without(task, times.back()));
  }
  std::vector<std::string> not_reached;
  session::RunPlan short_plan = plan;
  short_plan.final_rounds = session::FinalRounds::deferred;
  short_plan.patience = std::min(kPatience, plan.patience.value_or(kPatience));
  for (std::size_t i = 0; i < order.size() && !interrupted_(); ++i) {
    if (unknown[i].sizes.empty()) continue;
    if (i > 0 && its_time.left().count() == 0) {
      not_reached.push_back(order[i].kernel.name);
      continue;
    }
    short_plan.sizes = unknown[i].sizes;
    short_plan.importance = unknown[i].importance;
    its_time.part(share_of_first(std::span(unknown).subspan(i))).give_to(short_plan);
    const session::RunResult result = tune(order[i].kernel, short_plan);
    order[i].continued.push_back(result.uuid);
    times[i].merge(times_of(result));
  }
  if (interrupted_()) return {.going_on = order, .document = Json::array(), .text = ""};
  const std::vector<Standing> standings = session::kernel_standings(times);
  FirstRound first{.going_on = tasks_going_on(order, standings),
                   .document = document_of(order, standings),
                   .text = "first round, by search times:\n"};
  for (const Standing& standing : standings) first.text += text_of(order, standing);
  if (!not_reached.empty()) {
    first.text += fmt::format("  not reached in its time: {}; the same command continues\n",
                              fmt::join(not_reached, ", "));
  }
  return first;
}

session::RunResult KernelRuns::tune(const family::Kernel& kernel,
                                    const session::RunPlan& plan) const {
  const std::vector<session::Card> cards = model_.cards();
  return session::tune_kernel({.family = family_,
                               .kernel = kernel,
                               .plan = plan,
                               .cards = cards,
                               .joining = model_.joining,
                               .store = store_,
                               .observer = observer_,
                               .interrupted = interrupted_});
}

std::vector<std::string> KernelRuns::run(const std::vector<TuningTask>& tasks,
                                         const session::RunPlan& plan,
                                         const session::TimeBudget& time, const Done& done) {
  std::vector<std::string> not_reached;
  KernelTimes reached;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    const TuningTask& task = tasks[i];
    const bool is_late = time.is_limited() && time.left().count() == 0;
    if (i > 0 && is_late && without(task, reached).sizes.empty()) {
      not_reached.push_back(task.kernel.name);
      continue;
    }
    session::RunPlan its_plan = plan;
    its_plan.sizes = task.sizes;
    its_plan.importance = task.importance;
    its_plan.continued = task.continued;
    time.part(share_of_first(std::span(tasks).subspan(i))).give_to(its_plan);
    const session::RunResult result = tune(task.kernel, its_plan);
    reached.merge(times_of(result));
    done(task, result);
    if (interrupted_()) break;
  }
  return not_reached;
}

}  // namespace tuner::cli
