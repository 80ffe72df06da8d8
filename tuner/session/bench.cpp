// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/bench.hpp"

#include "tuner/core/error.hpp"
#include "tuner/session/side_by_side_timer.hpp"
#include "tuner/session/trial_record.hpp"

#include <algorithm>
#include <array>
#include <future>
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
    if (!asked && !launches_only() && space_.contains(by_default)) enter(by_default);
    for (std::size_t place = 0; place < entrants_.size(); ++place) {
      if (stop_()) break;
      Entrant& entrant = entrants_[place];
      entrant.trial = judge(entrant);
      if (entrant.trial->outcome == Outcome::ok && plan_.computed) save_outputs(place);
      if (plan_.judged) plan_.judged(contender(entrant));
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
    std::string caution = {};
    std::vector<verify::PerformedCheck> checks = {};
    std::vector<verify::LawLeftOut> laws_left_out = {};
    std::optional<verify::Coverage> coverage = {};
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

  void begin(BenchStage stage) const {
    if (plan_.began) plan_.began(stage);
  }

  store::TrialRecord judge(Entrant& entrant) {
    begin(BenchStage::compile);
    store::TrialRecord trial;
    trial.problem = space::canonical_size(plan_.size, kernel_.space->dims);
    trial.config_json = space::canonical_json(*kernel_.space, entrant.config);
    if (entrant.refused) return with_failure(std::move(trial), *entrant.refused);
    const worker::Compiled& compiled = entrant.compiled.get();
    trial.compile_ms = compiled.compile_ms;
    if (!compiled.binary) return with_failure(std::move(trial), compiled.binary.error());
    if (launches_only()) {
      trial.outcome = Outcome::ok;
      return trial;
    }
    begin(BenchStage::verify);
    worker::EvaluatedCandidate evaluation =
        device_.evaluate(candidate(entrant), plan_.size, std::nullopt);
    entrant.caution = evaluation.caution;
    entrant.checks = std::move(evaluation.checks);
    entrant.laws_left_out = std::move(evaluation.laws_left_out);
    entrant.coverage = std::move(evaluation.coverage);
    return with_evaluation(std::move(trial), evaluation, kernel_,
                           space_.expression_values(entrant.config));
  }

  [[nodiscard]] bool launches_only() const { return plan_.extent == BenchPlan::Extent::launch; }

  /// Of an entrant that was compiled.
  [[nodiscard]] worker::Candidate candidate(const Entrant& entrant) const {
    return {.kernel = kernel_,
            .space = space_,
            .config = entrant.config,
            .binary = *entrant.compiled.get().binary};
  }

  void save_outputs(std::size_t place) {
    Entrant& entrant = entrants_[place];
    const auto outputs = launch(entrant);
    if (outputs) {
      plan_.computed(place, entrant.config, *outputs);
    } else {
      entrant.trial = with_failure(*std::move(entrant.trial), outputs.error());
    }
  }

  Expected<std::vector<OutputData>, Failure> launch(const Entrant& entrant) {
    const auto places = device_.launch_once(candidate(entrant), plan_.size);
    if (!places) return Unexpected(places.error());
    std::vector<OutputData> outputs;
    for (std::size_t i = 0; i < places->size(); ++i) {
      OutputData& output = outputs.emplace_back();
      output.name = (*places)[i].name;
      const std::uint64_t all = (*places)[i].size_bytes;
      output.bytes.reserve(all);
      while (output.bytes.size() < all) {
        const std::uint64_t offset = output.bytes.size();
        const auto part =
            device_.read_output({.output = i,
                                 .offset_bytes = offset,
                                 .size_bytes = std::min(worker::kMostOutputBytes, all - offset)});
        if (!part) return Unexpected(part.error());
        output.bytes.insert(output.bytes.end(), part->begin(), part->end());
      }
    }
    return outputs;
  }

  /// Times what ended ok side by side, again without a contender that fails.
  std::optional<Timed> add_contenders() {
    for (;;) {
      std::vector<space::Config> configs;
      for (const Entrant& entrant : entrants_) {
        if (entrant.trial->outcome == Outcome::ok) configs.push_back(entrant.config);
      }
      if (configs.empty() || launches_only() || stop_()) return std::nullopt;
      begin(BenchStage::time);
      auto times =
          SideBySideTimer(kernel_, space_, plan_.size, pool_, device_,
                          library_problem_.empty() ? LibraryPart::included : LibraryPart::excluded,
                          companion())
              .time(configs, plan_.finals, stop_);
      if (times) {
        if (!*times) return std::nullopt;
        if (plan_.reads_counters) read_counters(configs);
        return Timed{.configs = std::move(configs), .times = std::move(**times)};
      }
      drop(times.error());
    }
  }

  /// While it takes part.
  [[nodiscard]] std::optional<Companion> companion() {
    if (plan_.companion == nullptr || !companion_problem_.empty()) return std::nullopt;
    if (!companion_space_) {
      companion_space_.emplace(plan_.companion->space, device_.device().attributes, plan_.size);
    }
    return Companion{.kernel = *plan_.companion,
                     .space = *companion_space_,
                     .config = companion_space_->default_config()};
  }

  /// The contenders are on the device as they were timed.
  void read_counters(const std::vector<space::Config>& configs) {
    const auto first = std::ranges::find(configs, plan_.configs.front());
    if (first == configs.end()) return;
    auto reading = device_.count_contender(static_cast<std::size_t>(first - configs.begin()));
    if (reading) {
      counters_ = *std::move(reading);
    } else {
      counters_.problem = reading.error().message;
    }
  }

  void drop(const LostContender& lost) {
    if (lost.is_companion) {
      companion_problem_ = lost.failure.message;
      return;
    }
    if (!lost.config) {
      library_problem_ = lost.failure.message;
      return;
    }
    Entrant& entrant = *std::ranges::find(entrants_, *lost.config, &Entrant::config);
    if (is_refutation(lost.failure.outcome)) {
      entrant.checks.push_back({.size = plan_.size,
                                .inputs = "normal",
                                .seed = plan_.finals.seed,
                                .launch = "timed",
                                .outcome = lost.failure.outcome,
                                .worst_error = std::nullopt,
                                .message = lost.failure.message,
                                .element = lost.failure.element});
    }
    store::TrialRecord& trial = *entrant.trial;
    trial.time.reset();
    trial = with_failure(std::move(trial), lost.failure);
    trial.message += " (while timed beside the others)";
  }

  [[nodiscard]] BenchContender contender(const Entrant& entrant) const {
    const bool by_default = entrant.config == space_.default_config();
    return {.role = by_default ? "default" : "candidate",
            .trial = *entrant.trial,
            .timed = std::nullopt,
            .place = std::nullopt,
            .caution = entrant.caution,
            .checks = entrant.checks,
            .laws_left_out = entrant.laws_left_out,
            .coverage = entrant.coverage};
  }

  [[nodiscard]] BenchResult result(const std::optional<Timed>& timed) const {
    BenchResult result;
    for (const Entrant& entrant : entrants_) result.contenders.push_back(contender(entrant));
    result.library_problem = library_problem_;
    result.companion_problem = companion_problem_;
    result.counters = counters_;
    if (timed) add_times(result, *timed);
    // A failure first, where nobody overlooks it.
    std::ranges::stable_sort(result.contenders, {}, [](const BenchContender& contender) {
      return contender.timed ? contender.timed->time.median_ns : 0;
    });
    return result;
  }

  /// The contender that ratios are to.
  [[nodiscard]] std::size_t compared_with(const Timed& timed, std::size_t fastest) const {
    if (plan_.beside == BenchPlan::Beside::fastest) return fastest;
    const auto first = std::ranges::find(timed.configs, plan_.configs.front());
    return first == timed.configs.end() ? fastest
                                        : static_cast<std::size_t>(first - timed.configs.begin());
  }

  void add_times(BenchResult& result, const Timed& timed) const {
    const std::vector<std::vector<double>>& all = timed.times.cold.times_ns;
    const std::size_t ours = timed.configs.size();
    const std::vector<measure::Rank> ranks =
        measure::ranking({all.begin(), all.begin() + static_cast<std::ptrdiff_t>(ours)});
    const std::size_t fastest = ranks.front().contender;
    const std::size_t beside = compared_with(timed, fastest);
    for (const measure::Rank& rank : ranks) {
      const std::string config_json =
          space::canonical_json(*kernel_.space, timed.configs[rank.contender]);
      BenchContender& contender = *std::ranges::find_if(
          result.contenders,
          [&](const BenchContender& each) { return each.trial.config_json == config_json; });
      contender.timed = timed.times.finalist(contender.role, config_json, rank.contender, beside);
      contender.place = rank.contender == fastest ? Place::fastest
                        : rank.tied               ? Place::tied
                                                  : Place::slower;
    }
    const auto add = [&](std::string role, std::size_t place) {
      BenchContender& added = result.contenders.emplace_back();
      added.role = std::move(role);
      added.timed = timed.times.finalist(added.role, "", place, beside);
    };
    if (all.size() > ours && timed.times.companion != ours) add("library", ours);
    if (timed.times.companion) add("companion", *timed.times.companion);
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
  std::string companion_problem_;
  std::optional<space::BoundDefinition> companion_space_;
  counters::CounterReading counters_;
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

void store_trial(store::Store& store, const family::Family& family, const family::Kernel& kernel,
                 const worker::DeviceWorker& device, const store::TrialRecord& trial,
                 store::RunRecord run) {
  run.uuid = new_uuid();
  run.problems = {trial.problem};
  run.valid = run.cartesian = 1;
  const std::int64_t id = store.begin_run({.device = device.device(),
                                           .environment = device.environment(),
                                           .kernel = kernel_record(family, kernel),
                                           .check_hash = family::check_hash(family, kernel)},
                                          run);
  store.record_trial(id, trial, 0);
  run.state = store::RunState::complete;
  run.respawns = device.respawns();
  store.end_run(id, run);
}

}  // namespace tuner::session
