// SPDX-License-Identifier: Apache-2.0
#include "tuner/lab/replay.hpp"

#include <algorithm>
#include <ctime>
#include <deque>
#include <stdexcept>
#include <unordered_set>

namespace tuner::lab {
namespace {

/// A strategy that asks only for what it has asked before would never end.
constexpr std::size_t kMostRepeats = 10'000;

space::Space recorded_space(const interop::Recording& recording) {
  std::vector<space::Config> configs;
  configs.reserve(recording.trials.size());
  for (const interop::RecordedTrial& trial : recording.trials) configs.push_back(trial.config);
  return space::Space(recording.definition, std::move(configs));
}

/// Of this thread, so that other work on the machine is not charged.
double processor_time_s() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

/// Adds the processor time of its life to an account.
class Charge {
 public:
  explicit Charge(double& account_s) : account_s_(account_s), start_s_(processor_time_s()) {}
  ~Charge() { account_s_ += processor_time_s() - start_s_; }
  Charge(const Charge&) = delete;
  Charge& operator=(const Charge&) = delete;

 private:
  double& account_s_;
  double start_s_;
};

/// One run of a strategy: what is in flight, and what has been spent.
class ReplayRun {
 public:
  ReplayRun(search::Strategy& strategy, const ReplayPlan& plan, const space::Space& space)
      : strategy_(strategy), plan_(plan), space_(space) {}

  /// Asks until enough is in flight. Returns whether anything is.
  bool fill() {
    while (on_their_way_.size() < plan_.in_flight) {
      const std::vector<space::Config> asked = ask(plan_.in_flight - on_their_way_.size());
      if (asked.empty()) break;
      for (const space::Config& config : asked) on_their_way_.push_back(position(config));
    }
    return !on_their_way_.empty();
  }

  [[nodiscard]] bool goes_on() const {
    return recorded_s_ + replay_.strategy_s < plan_.most_s && repeats_ < kMostRepeats &&
           replay_.trace.trials.size() < plan_.max_evaluations.value_or(space_.size());
  }

  /// The position of the next configuration to answer.
  std::uint64_t next() {
    const std::uint64_t position = on_their_way_.front();
    on_their_way_.pop_front();
    return position;
  }

  void answer(std::uint64_t position, std::size_t index, const interop::RecordedTrial& trial,
              double cost_s) {
    const bool first = seen_.insert(position).second;
    repeats_ = first ? 0 : repeats_ + 1;
    if (first) recorded_s_ += cost_s;
    tell(trial);
    if (!first) return;
    replay_.trace.trials.push_back(index);
    replay_.trace.elapsed_s.push_back(recorded_s_ + replay_.strategy_s);
  }

  Replay take() { return std::move(replay_); }

 private:
  [[nodiscard]] std::vector<space::Config> ask(std::size_t count) {
    const Charge charge(replay_.strategy_s);
    return strategy_.ask(count, budget());
  }

  void tell(const interop::RecordedTrial& trial) {
    const bool timed = trial.outcome == Outcome::ok && trial.time_ms;
    const Charge charge(replay_.strategy_s);
    strategy_.tell(trial.config, trial.outcome,
                   timed ? std::optional(*trial.time_ms * 1e6) : std::nullopt);
  }

  /// Without the strategy's own time, so that the same plan gives the same run.
  [[nodiscard]] search::Budget budget() const {
    const auto tried = static_cast<double>(replay_.trace.trials.size());
    double spent = recorded_s_ / plan_.most_s;
    if (plan_.max_evaluations) {
      spent = std::max(spent, tried / static_cast<double>(*plan_.max_evaluations));
    } else if (plan_.most_s == std::numeric_limits<double>::infinity()) {
      return {};
    }
    return {.spent = std::min(spent, 1.0)};
  }

  [[nodiscard]] std::uint64_t position(const space::Config& config) const {
    if (const auto position = space_.position(config)) return *position;
    throw std::logic_error("the strategy proposed a configuration outside the space");
  }

  search::Strategy& strategy_;
  const ReplayPlan& plan_;
  const space::Space& space_;
  Replay replay_;
  std::deque<std::uint64_t> on_their_way_;  // positions
  std::unordered_set<std::uint64_t> seen_;
  std::size_t repeats_ = 0;
  double recorded_s_ = 0;
};

}  // namespace

Replayer::Replayer(const interop::Recording& recording)
    : recording_(recording),
      space_(recorded_space(recording)),
      trial_at_(space_.size()),
      costs_s_(trial_costs_s(recording)) {
  for (std::size_t i = 0; i < recording.trials.size(); ++i) {
    trial_at_[*space_.position(recording.trials[i].config)] = i;
  }
}

Replay Replayer::run(const ReplayPlan& plan) const {
  return run(*search::make_strategy(plan.strategy, space_, plan.seed), plan);
}

Replay Replayer::run(search::Strategy& strategy, const ReplayPlan& plan) const {
  ReplayRun run(strategy, plan, space_);
  while (run.goes_on() && run.fill()) {
    const std::uint64_t position = run.next();
    const std::size_t trial = trial_at_[position];
    run.answer(position, trial, recording_.trials[trial], costs_s_[trial]);
  }
  return run.take();
}

}  // namespace tuner::lab
