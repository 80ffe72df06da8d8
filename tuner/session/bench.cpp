// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/bench.hpp"

#include "tuner/core/error.hpp"
#include "tuner/session/side_by_side_timer.hpp"
#include "tuner/session/trial_record.hpp"

#include <algorithm>
#include <array>
#include <future>
#include <string>
#include <utility>

namespace tuner::session {
namespace {

class Bench {
 public:
  Bench(const family::Kernel& kernel, const BenchPlan& plan, worker::DeviceWorker& device,
        const backend::Compiler& compiler, const std::function<bool()>& stop)
      : kernel_(kernel),
        plan_(plan),
        device_(device),
        stop_(stop),
        space_(kernel.space, device.device().attributes, plan.size),
        pool_(compiler, plan.compile_threads) {}

  BenchResult run() {
    for (const space::Config& config : plan_.configs) enter(config);
    const space::Config by_default = space_.default_config();
    const bool asked = std::ranges::count(plan_.configs, by_default) > 0;
    if (!asked && space_.contains(by_default)) enter(by_default);
    for (Entrant& entrant : entrants_) {
      if (!stop_()) entrant.trial = judge(entrant);
    }
    std::erase_if(entrants_, [](const Entrant& entrant) { return !entrant.trial; });
    return result(add_contenders());
  }

 private:
  struct Entrant {
    space::Config config;
    std::shared_future<worker::Compiled> compiled = {};  // not valid when refused
    std::optional<Failure> refused = {};                 // there is nothing to compile
    std::optional<store::TrialRecord> trial = {};
  };
  /// The times of the contenders that could be timed.
  struct Timed {
    std::vector<space::Config> configs;
    SideBySideTimes times;
  };

  /// Has it compiled while those before it are on the device.
  void enter(const space::Config& config) {
    Entrant entrant{.config = config};
    try {
      entrant.compiled = pool_.submit(family::compile_job(kernel_, space_, config));
    } catch (const Error& error) {
      // A value that the entry or the options need does not exist for this configuration.
      entrant.refused = Failure{Outcome::compile_error, error.what()};
    }
    entrants_.push_back(std::move(entrant));
  }

  store::TrialRecord judge(const Entrant& entrant) {
    store::TrialRecord trial;
    trial.problem = space::canonical_size(plan_.size, kernel_.space->dims);
    trial.config_json = space::canonical_json(*kernel_.space, entrant.config);
    if (entrant.refused) return with_failure(std::move(trial), *entrant.refused);
    const worker::Compiled& compiled = entrant.compiled.get();
    trial.compile_ms = compiled.compile_ms;
    if (!compiled.binary) return with_failure(std::move(trial), compiled.binary.error());
    const worker::EvaluatedCandidate evaluation = device_.evaluate(
        {.kernel = kernel_, .space = space_, .config = entrant.config, .binary = *compiled.binary},
        plan_.size, std::nullopt);
    return with_evaluation(std::move(trial), evaluation, kernel_,
                           space_.expression_values(entrant.config));
  }

  /// Times what ended ok side by side, again without a contender that fails.
  std::optional<Timed> add_contenders() {
    for (;;) {
      std::vector<space::Config> configs;
      for (const Entrant& entrant : entrants_) {
        if (entrant.trial->outcome == Outcome::ok) configs.push_back(entrant.config);
      }
      if (configs.empty() || stop_()) return std::nullopt;
      auto times =
          SideBySideTimer(kernel_, space_, plan_.size, pool_, device_,
                          library_problem_.empty() ? LibraryPart::included : LibraryPart::excluded)
              .time(configs, plan_.finals, stop_);
      if (times) {
        if (!*times) return std::nullopt;
        return Timed{.configs = std::move(configs), .times = std::move(**times)};
      }
      drop(times.error());
    }
  }

  void drop(const LostContender& lost) {
    if (!lost.config) {
      library_problem_ = lost.failure.message;
      return;
    }
    store::TrialRecord& trial =
        *std::ranges::find(entrants_, *lost.config, &Entrant::config)->trial;
    trial.time.reset();
    trial = with_failure(std::move(trial), lost.failure);
    trial.message += " (while timed beside the others)";
  }

  [[nodiscard]] BenchResult result(const std::optional<Timed>& timed) const {
    BenchResult result;
    for (const Entrant& entrant : entrants_) {
      const bool by_default = entrant.config == space_.default_config();
      result.contenders.push_back({.role = by_default ? "default" : "candidate",
                                   .trial = *entrant.trial,
                                   .timed = std::nullopt,
                                   .place = std::nullopt});
    }
    result.library_problem = library_problem_;
    if (timed) add_times(result, *timed);
    // A failure first, where nobody overlooks it.
    std::ranges::stable_sort(result.contenders, {}, [](const BenchContender& contender) {
      return contender.timed ? contender.timed->time.median_ns : 0;
    });
    return result;
  }

  void add_times(BenchResult& result, const Timed& timed) const {
    const std::vector<std::vector<double>>& all = timed.times.cold.times_ns;
    const std::size_t ours = timed.configs.size();
    const std::vector<measure::Rank> ranks =
        measure::ranking({all.begin(), all.begin() + static_cast<std::ptrdiff_t>(ours)});
    const std::size_t fastest = ranks.front().contender;
    for (const measure::Rank& rank : ranks) {
      const std::string config_json =
          space::canonical_json(*kernel_.space, timed.configs[rank.contender]);
      BenchContender& contender = *std::ranges::find_if(
          result.contenders,
          [&](const BenchContender& each) { return each.trial.config_json == config_json; });
      contender.timed = timed.times.finalist(contender.role, config_json, rank.contender, fastest);
      contender.place = rank.contender == fastest ? Place::fastest
                        : rank.tied               ? Place::tied
                                                  : Place::slower;
    }
    if (all.size() > ours) {
      BenchContender& library = result.contenders.emplace_back();
      library.role = "library";
      library.timed = timed.times.finalist(library.role, "", ours, fastest);
    }
    result.discarded_rounds = timed.times.cold.discarded_rounds;
  }

  const family::Kernel& kernel_;
  const BenchPlan& plan_;
  worker::DeviceWorker& device_;
  const std::function<bool()>& stop_;
  space::BoundDefinition space_;
  worker::CompilePool pool_;
  std::vector<Entrant> entrants_;
  std::string library_problem_;
};

}  // namespace

std::string_view name(Place place) {
  constexpr std::array<std::string_view, 3> kNames = {"fastest", "tied", "slower"};
  return kNames[static_cast<std::size_t>(place)];
}

BenchResult run_bench(const family::Kernel& kernel, const BenchPlan& plan,
                      worker::DeviceWorker& device, const backend::Compiler& compiler,
                      const std::function<bool()>& stop) {
  return Bench(kernel, plan, device, compiler, stop).run();
}

}  // namespace tuner::session
