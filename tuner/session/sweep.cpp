// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/sweep.hpp"

#include "tuner/core/error.hpp"
#include "tuner/session/trial_record.hpp"
#include "tuner/worker/compile_pool.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace tuner::session {
namespace {

/// What is expected to take how long at a size, going by the last time.
class Expectation {
 public:
  explicit Expectation(const family::Problem& problem) : problem_(problem) {}

  void learn(const std::string& who, const space::Size& size, double time_ns) {
    known_[who] = {.work = work(size), .time_ns = time_ns};
  }
  /// 0 where nothing is known.
  [[nodiscard]] double time_ns(const std::string& who, const space::Size& size) const {
    const auto known = known_.find(who);
    if (known == known_.end()) return 0;
    return known->second.time_ns * work(size) / known->second.work;
  }

 private:
  struct Known {
    double work, time_ns;
  };
  [[nodiscard]] double work(const space::Size& size) const {
    const double flops = family::flops_at(problem_, size);
    return std::max(1.0, flops > 0 ? flops : family::bytes_at(problem_, size));
  }

  const family::Problem& problem_;
  std::map<std::string, Known> known_;
};

class Sweep {
 public:
  Sweep(const family::Problem& problem, const SweepPlan& plan, worker::DeviceWorker& device,
        const backend::Compiler& compiler, const std::function<void(const SweepTime&)>& heard,
        const std::function<bool()>& stop)
      : plan_(plan),
        device_(device),
        heard_(heard),
        stop_(stop),
        pool_(compiler, 1),
        expected_(problem) {}

  SweepResult run() {
    for (std::size_t i = 0; i < plan_.sizes.size() && !stop_(); ++i) at_size(i);
    return std::move(result_);
  }

 private:
  /// The configuration that a contender takes part with, and its compiled code.
  struct Entrant {
    const family::Kernel* kernel;
    space::Space space;
    space::Config config;
    backend::Binary binary = {};
  };
  struct Fastest {
    std::string name;
    double time_ns = 0;
    std::optional<Entrant> entrant = {};  ///< none: the library
  };

  [[nodiscard]] const space::Size& size() const { return plan_.sizes[at_]; }

  void at_size(std::size_t index) {
    at_ = index;
    std::optional<Fastest> fastest;
    for (const SweepContender& contender : plan_.contenders) {
      if (stop_() || expected_.time_ns(contender.name, size()) > plan_.most_run_ns) continue;
      std::optional<Entrant> entrant;
      if (contender.choose && !(entrant = entrant_of(contender))) continue;
      SweepTime fared =
          entrant ? judge(contender.name, *entrant, fastest) : time_library(contender);
      if (fared.time) {
        expected_.learn(contender.name, size(), fared.time->median_ns);
        if (!fastest || fared.time->median_ns < fastest->time_ns) {
          fastest = {.name = contender.name,
                     .time_ns = fared.time->median_ns,
                     .entrant = std::move(entrant)};
        }
      }
      heard_(fared);
      result_.times.push_back(std::move(fared));
    }
    result_.exact_results.push_back(fastest ? device_.exact_result(size()) : "");
    if (fastest) take_trips(*fastest);
  }

  [[nodiscard]] std::optional<Entrant> entrant_of(const SweepContender& contender) const {
    const auto choice = contender.choose(size());
    if (!choice) return std::nullopt;
    space::Space space(choice->kernel->space, device_.device().attributes, size());
    const space::Config config = choice->config.value_or(space.default_config());
    if (!space.position(config)) return std::nullopt;
    return Entrant{.kernel = choice->kernel, .space = std::move(space), .config = config};
  }

  SweepTime judge(const std::string& name, Entrant& entrant, const std::optional<Fastest>& best) {
    const auto& [kernel, space, config, binary] = entrant;
    SweepTime fared{.contender = name,
                    .size = at_,
                    .kernel = kernel->name,
                    .config_json = space::canonical_json(*kernel->space, config)};
    const auto fail = [&](const Failure& failure) {
      fared.outcome = failure.outcome;
      fared.message = failure.message;
      return fared;
    };
    try {
      family::CompileJob job = family::compile_job(*kernel, space, config);
      const bool is_new = compiled_.insert(job.key).second;
      const worker::Compiled compiled = pool_.submit(std::move(job)).get();
      if (is_new) fared.compile_ms = compiled.compile_ms;
      if (!compiled.binary) return fail(compiled.binary.error());
      entrant.binary = *compiled.binary;
    } catch (const Error& error) {
      // A value that the entry or the options need does not exist for this configuration.
      return fail({Outcome::compile_error, error.what()});
    }
    const worker::TrialResult evaluation = device_.evaluate(
        candidate(entrant), size(), best ? std::optional(best->time_ns) : std::nullopt);
    fared.outcome = evaluation.outcome;
    fared.message = evaluation.message;
    fared.worst_error = evaluation.worst_error;
    if (evaluation.time) fared.time = time_record(*evaluation.time);
    return fared;
  }

  [[nodiscard]] static worker::Candidate candidate(const Entrant& entrant) {
    return {.kernel = *entrant.kernel,
            .space = entrant.space,
            .config = entrant.config,
            .binary = entrant.binary};
  }

  /// As a candidate is screened: warmed up, then timed from a cold cache.
  SweepTime time_library(const SweepContender& contender) {
    constexpr int kWarmUp = 2;
    constexpr int kSamples = 20;
    constexpr double kMostSamplingNs = 1e9;
    SweepTime fared{.contender = contender.name, .size = at_};
    device_.begin_side_by_side(size());
    auto added = device_.add_library();
    std::vector<double> samples;
    double spent_ns = 0;
    for (int i = 0; added && i < kWarmUp + kSamples; ++i) {
      const auto sample = device_.time_contender(0);
      if (!sample) {
        added = Unexpected(sample.error());
        break;
      }
      if (i >= kWarmUp) samples.push_back(sample->time_ns);
      if ((spent_ns += sample->time_ns) > kMostSamplingNs && !samples.empty()) break;
    }
    if (added) {
      fared.time = time_record(*measure::summarise(samples));
    } else {
      fared.outcome = added.error().outcome;
      fared.message = added.error().message;
    }
    return fared;
  }

  void take_trips(const Fastest& fastest) {
    for (const Placement& placement : plan_.placements) {
      if (stop_() || expected_.time_ns(placement.name, size()) > plan_.most_run_ns) continue;
      SweepTransfer transfer{.contender = fastest.name, .size = at_, .placement = placement.name};
      const auto times = time_transfers(fastest, placement);
      if (times) {
        transfer.times = *times;
        expected_.learn(placement.name, size(), times->total_ns());
      } else {
        transfer.outcome = times.error().outcome;
        transfer.message = times.error().message;
      }
      result_.transfers.push_back(std::move(transfer));
    }
  }

  /// In a line-up of its own: after one that failed there may be no other.
  [[nodiscard]] Expected<measure::TransferTimes, Failure> time_transfers(
      const Fastest& fastest, const Placement& placement) {
    device_.begin_side_by_side(size());
    if (fastest.entrant) {
      const auto added = device_.add_contender(candidate(*fastest.entrant));
      if (!added) return Unexpected(added.error());
    } else if (const auto added = device_.add_library(); !added) {
      return Unexpected(added.error());
    }
    return device_.time_transfers(0, placement.places);
  }

  const SweepPlan& plan_;
  worker::DeviceWorker& device_;
  const std::function<void(const SweepTime&)>& heard_;
  const std::function<bool()>& stop_;
  worker::CompilePool pool_;
  Expectation expected_;
  std::set<std::string> compiled_;  // keys of what was compiled in this sweep
  std::size_t at_ = 0;
  SweepResult result_;
};

}  // namespace

SweepResult run_sweep(const family::Problem& problem, const SweepPlan& plan,
                      worker::DeviceWorker& device, const backend::Compiler& compiler,
                      const std::function<void(const SweepTime&)>& heard,
                      const std::function<bool()>& stop) {
  return Sweep(problem, plan, device, compiler, heard, stop).run();
}

}  // namespace tuner::session
