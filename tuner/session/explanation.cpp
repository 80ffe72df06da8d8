// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/explanation.hpp"

#include "tuner/core/error.hpp"
#include "tuner/session/side_by_side_timer.hpp"
#include "tuner/session/trial_record.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace tuner::session {
namespace {

/// The parameter in which two configurations differ; none when that is not exactly one.
std::optional<std::size_t> only_difference(const space::Config& one, const space::Config& other) {
  std::optional<std::size_t> found;
  for (std::size_t i = 0; i < one.choice.size(); ++i) {
    if (one.choice[i] == other.choice[i]) continue;
    if (found) return std::nullopt;
    found = i;
  }
  return found;
}

/// The configuration of a stored trial; none when the space has changed since and no longer has it.
std::optional<space::Config> stored_config(const space::SpaceDefinition& definition,
                                           const std::string& config_json) {
  try {
    return space::config_from_json(definition, config_json);
  } catch (const Error&) {
    return std::nullopt;
  }
}

/// Adds what the best configuration is compared with, judges, times and counts it.
class Explainer {
 public:
  Explainer(const family::Kernel& kernel, const ExplanationPlan& plan, worker::DeviceWorker& device,
            const backend::Compiler& compiler, const std::function<bool()>& stop)
      : kernel_(kernel),
        plan_(plan),
        device_(device),
        stop_(stop),
        space_(kernel.space, device.device().attributes, plan.size),
        pool_(compiler, plan.compile_threads) {}

  Explanation run() {
    enter("best", plan_.best, std::nullopt);
    for (const TimedNeighbour& near :
         timed_neighbours(*kernel_.space, plan_.best, plan_.trials, plan_.most_neighbours)) {
      if (space_.contains(near.config)) enter("neighbour", near.config, near.parameter);
    }
    const space::Config by_default = space_.default_config();
    if (by_default != plan_.best && space_.contains(by_default)) {
      enter("default", by_default, std::nullopt);
    }
    for (ExplainedContender& contender : result_.contenders) contender.trial = judge(contender);
    require_best();
    time_all();
    for (ExplainedContender& contender : result_.contenders) {
      add_resources(contender);
      add_instructions(contender);
    }
    add_roofline();
    count_all();
    return std::move(result_);
  }

 private:
  void enter(std::string role, const space::Config& config, std::optional<std::size_t> parameter) {
    const bool is_known = std::ranges::any_of(
        result_.contenders, [&](const auto& contender) { return contender.config == config; });
    if (is_known) return;
    result_.contenders.push_back(
        {.role = std::move(role), .config = config, .parameter = parameter});
  }

  store::TrialRecord judge(const ExplainedContender& contender) {
    const std::string config_json = space::canonical_json(*kernel_.space, *contender.config);
    if (const auto known = plan_.trials.find(config_json);
        known != plan_.trials.end() && known->second.outcome == Outcome::ok) {
      return known->second;
    }
    store::TrialRecord trial;
    trial.problem = space::canonical_size(plan_.size, kernel_.space->dims);
    trial.config_json = config_json;
    const auto compiled =
        pool_.submit(family::compile_job(kernel_, space_, *contender.config)).get();
    if (!compiled.binary) return with_failure(std::move(trial), compiled.binary.error());
    const auto evaluation = device_.evaluate({.kernel = kernel_,
                                              .space = space_,
                                              .config = *contender.config,
                                              .binary = *compiled.binary},
                                             plan_.size, std::nullopt);
    return with_evaluation(std::move(trial), evaluation, kernel_,
                           space_.expression_values(*contender.config));
  }

  void require_best() const {
    const store::TrialRecord& best = result_.contenders.front().trial;
    if (best.outcome == Outcome::ok) return;
    throw Error(ErrorCode::failure,
                fmt::format("the best configuration {} ended {}: {}", best.config_json,
                            name(best.outcome), best.message));
  }

  /// The contenders that can be timed, in their order; the best one is the first.
  [[nodiscard]] std::vector<ExplainedContender*> runnable() {
    std::vector<ExplainedContender*> found;
    for (ExplainedContender& contender : result_.contenders) {
      if (contender.trial.outcome == Outcome::ok) found.push_back(&contender);
    }
    return found;
  }

  /// Times again without a contender that fails.
  void time_all() {
    for (;;) {
      const std::vector<ExplainedContender*> contenders = runnable();
      std::vector<space::Config> configs;
      for (const ExplainedContender* contender : contenders) configs.push_back(*contender->config);
      const auto library =
          result_.library_problem.empty() ? LibraryPart::included : LibraryPart::excluded;
      const auto times = SideBySideTimer(kernel_, space_, plan_.size, pool_, device_, library)
                             .time(configs, plan_.rounds, stop_);
      if (!times) {
        drop(times.error());
        require_best();
        continue;
      }
      if (!*times) return;
      for (std::size_t i = 0; i < contenders.size(); ++i) {
        contenders[i]->timed =
            (*times)->finalist(contenders[i]->role, contenders[i]->trial.config_json, i, 0);
      }
      const std::size_t ours = contenders.size();
      if ((*times)->cold.times_ns.size() > ours) {
        ExplainedContender& added = result_.contenders.emplace_back();
        added.role = "library";
        added.timed = (*times)->finalist(added.role, "", ours, 0);
      }
      return;
    }
  }

  void drop(const LostContender& lost) {
    if (!lost.config) {
      result_.library_problem = lost.failure.message;
      return;
    }
    auto& contender =
        *std::ranges::find(result_.contenders, lost.config, &ExplainedContender::config);
    contender.trial = with_failure(std::move(contender.trial), lost.failure);
  }

  void add_resources(ExplainedContender& contender) const {
    if (!contender.config || contender.trial.outcome != Outcome::ok) return;
    counters::Footprint footprint{
        .registers = contender.trial.registers,
        .shared_bytes = static_cast<std::int64_t>(contender.trial.shared_bytes),
        .local_bytes = static_cast<std::int64_t>(contender.trial.local_bytes)};
    // Of several steps a trial has the most that any of them takes, which is no launch.
    if (kernel_.steps.size() == 1) {
      const auto [x, y, z] =
          family::geometry(kernel_, 0, space_.expression_values(*contender.config)).block;
      footprint.threads = std::int64_t{x} * y * z;
      contender.profile.occupancy = counters::occupancy(footprint, device_.device().attributes);
    }
    contender.profile.footprint = footprint;
  }

  void add_instructions(ExplainedContender& contender) {
    if (!plan_.instructions || !contender.config || contender.trial.outcome != Outcome::ok) return;
    const auto compiled =
        pool_.submit(family::compile_job(kernel_, space_, *contender.config)).get();
    if (compiled.binary) contender.profile.instructions = plan_.instructions(*compiled.binary);
  }

  /// Of the multiprocessors at the clock at which the best configuration ran.
  void add_roofline() {
    constexpr double kMega = 1e6;
    result_.roofline = plan_.roofline;
    const auto& timed = result_.contenders.front().timed;
    if (!timed || !timed->clock_mhz) return;
    result_.roofline.peak_flops_per_s = plan_.flops_per_cycle * *timed->clock_mhz * kMega;
  }

  /// The contenders are on the device as they were timed, the library behind them. Where one cannot
  /// be counted, nor can those behind it.
  void count_all() {
    std::size_t index = 0;
    for (ExplainedContender& contender : result_.contenders) {
      if (!contender.timed) continue;
      if (stop_()) return;
      const auto reading = device_.count_contender(index++);
      if (!reading) {
        result_.counters_problem =
            fmt::format("{} failed while its counters were read: {}",
                        contender.config ? contender.trial.config_json : contender.role,
                        reading.error().message);
        return;
      }
      contender.profile.counters = reading->counters;
      result_.counters_problem = reading->problem;
      if (!reading->counters) return;
    }
  }

  const family::Kernel& kernel_;
  const ExplanationPlan& plan_;
  worker::DeviceWorker& device_;
  const std::function<bool()>& stop_;
  space::BoundDefinition space_;
  worker::CompilePool pool_;
  Explanation result_;
};

std::optional<double> if_positive(double value) {
  return value > 0 ? std::optional(value) : std::nullopt;
}

store::ExplainedRecord record_of(const space::SpaceDefinition& definition,
                                 const ExplainedContender& contender) {
  store::ExplainedRecord record{
      .role = contender.role,
      .config_json = contender.config ? space::canonical_json(definition, *contender.config) : "",
      .profile = contender.profile};
  if (contender.parameter) record.parameter = definition.parameters[*contender.parameter].name;
  if (const auto& timed = contender.timed) {
    record.timed = {.median_ns = timed->time.median_ns,
                    .ratio_to_best = timed->ratio_to_best,
                    .ratio_low = timed->ratio_low,
                    .ratio_high = timed->ratio_high};
  }
  return record;
}

}  // namespace

std::vector<TimedNeighbour> timed_neighbours(
    const space::SpaceDefinition& definition, const space::Config& best,
    const std::map<std::string, store::TrialRecord>& trials, std::size_t most) {
  std::map<std::size_t, std::vector<std::pair<double, TimedNeighbour>>> by_parameter;
  for (const auto& [config_json, trial] : trials) {
    if (trial.outcome != Outcome::ok) continue;
    const auto config = stored_config(definition, config_json);
    const auto parameter = config ? only_difference(*config, best) : std::nullopt;
    if (!parameter) continue;
    by_parameter[*parameter].emplace_back(
        trial.time->median_ns, TimedNeighbour{.config = *config, .parameter = *parameter});
  }
  const auto time = [](const auto& timed) { return timed.first; };
  for (auto& [parameter, neighbours] : by_parameter) std::ranges::stable_sort(neighbours, {}, time);
  std::vector<TimedNeighbour> chosen;
  for (std::size_t place = 0; chosen.size() < most; ++place) {
    std::vector<std::pair<double, TimedNeighbour>> of_place;
    for (const auto& [parameter, neighbours] : by_parameter) {
      if (place < neighbours.size()) of_place.push_back(neighbours[place]);
    }
    if (of_place.empty()) break;
    std::ranges::stable_sort(of_place, {}, time);
    for (auto& [time_ns, neighbour] : of_place) {
      if (chosen.size() < most) chosen.push_back(std::move(neighbour));
    }
  }
  return chosen;
}

Explanation explain(const family::Kernel& kernel, const ExplanationPlan& plan,
                    worker::DeviceWorker& device, const backend::Compiler& compiler,
                    const std::function<bool()>& stop) {
  return Explainer(kernel, plan, device, compiler, stop).run();
}

bool store_explanation(store::Store& store, const family::Family& family,
                       const family::Kernel& kernel, const space::DeviceInfo& device,
                       const space::Size& size, const Explanation& explanation) {
  store::ExplanationRecord record{
      .problem = space::canonical_size(size, family.problem.dims),
      .counters_problem = explanation.counters_problem,
      .peak_flops_per_s = if_positive(explanation.roofline.peak_flops_per_s),
      .peak_bytes_per_s = if_positive(explanation.roofline.peak_bytes_per_s),
      .contenders = {}};
  for (const ExplainedContender& contender : explanation.contenders) {
    record.contenders.push_back(record_of(*kernel.space, contender));
  }
  for (const store::StoredBest& stored : store.bests({.device = device.name,
                                         .family = family.name,
                                         .kernel = kernel.name,
                                         .problem = record.problem})) {
    const bool is_this = stored.subject->kernel.hash == kernel.hash &&
                         stored.subject->device.backend == device.backend &&
                         stored.best.config_json == record.contenders.front().config_json;
    if (!is_this) continue;
    const auto run = store.run(stored.best.run_uuid);
    if (!run) continue;
    store.record_explanation(run->id, record);
    return true;
  }
  return false;
}

}  // namespace tuner::session
