// SPDX-License-Identifier: Apache-2.0
// Runs on the toy family, and what they told their observer.
#pragma once

#include "tests/session/toy.hpp"
#include "tuner/session/session.hpp"
#include "tuner/store/store.hpp"
#include "tuner/worker/evaluator.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace tuner::session {

/// Keeps all that it is told.
class Recorder : public Observer {
 public:
  struct Step {
    Progress progress;  // `trial` and `card` point to what may be gone
    store::TrialRecord trial;
    std::string card;
    std::size_t finished = 0;  // sizes, before it
  };

  [[nodiscard]] bool shows_library() const override { return with_gauge; }
  void tell(const Event& event) override {
    std::visit([this](const auto& each) { on(each); }, event);
  }
  void on(const Opening& opening) { openings.push_back(opening); }
  void on(const SearchEstimate&) { ++estimates; }
  void on(const verify::Coverage&) {}
  void on(const Progress& progress) {
    steps.push_back({.progress = progress,
                     .trial = *progress.trial,
                     .card = std::string(progress.card),
                     .finished = done.size()});
  }
  void on(const FinalBegan& final) {
    finals.push_back(final.contenders);
    with_library.push_back(final.library);
  }
  void on(const RoundDone& round) { rounds.push_back(round.rounds); }
  void on(const EnergyBegan&) {}
  void on(const SizeResult& result) { done.push_back(result.size); }
  void on(const CardJoined& event) { joined.push_back(event.card.name); }
  void on(const CardDropped& event) { dropped[event.card.name] = event.reason; }

  /// The configurations in the order of their trials.
  [[nodiscard]] std::vector<std::string> order() const {
    std::vector<std::string> configs;
    for (const Step& step : steps) configs.push_back(step.trial.config_json);
    return configs;
  }
  [[nodiscard]] std::uint64_t reused() const {
    return static_cast<std::uint64_t>(
        std::ranges::count_if(steps, [](const Step& step) { return step.progress.reused; }));
  }

  std::vector<Opening> openings;
  std::vector<Step> steps;
  std::vector<std::size_t> finals;
  std::vector<int> rounds;
  std::vector<LibraryPart> with_library;
  std::vector<space::Size> done;
  std::vector<std::string> joined;             // names of cards
  std::map<std::string, std::string> dropped;  // by name of the card: why
  int estimates = 0;
  bool with_gauge = false;
};

/// Stands still until a test lets time pass.
class ManualClock {
 public:
  void advance(std::chrono::nanoseconds by) { since_start_ns_ += by.count(); }
  [[nodiscard]] RunClock now() const {
    return [this] {
      return std::chrono::steady_clock::time_point(std::chrono::nanoseconds(since_start_ns_));
    };
  }

 private:
  std::atomic<std::int64_t> since_start_ns_ = 0;
};

/// On a device where toy<3,2> is twice as fast as every other configuration.
class SessionTest : public testing::Test {
 protected:
  SessionTest() { device.behaviours["toy<3,2>"].time_ns = 500; }

  RunResult run(const RunPlan& plan) {
    return run(plan, [] { return false; });
  }
  RunResult run(const RunPlan& plan, const std::function<bool()>& interrupted) {
    const bool with_gauge = seen.with_gauge;
    seen = {};
    seen.with_gauge = with_gauge;
    worker::Evaluator evaluator(device, device.compiler(), family, plan.seed);
    const Card card{.name = "0",
                    .device = &evaluator,
                    .compiler = &device.compiler(),
                    .compile_threads = compile_threads};
    return tune_kernel({.family = family,
                        .kernel = family.kernels.front(),
                        .plan = plan,
                        .cards = {&card, 1},
                        .joining = {},
                        .store = store,
                        .observer = seen,
                        .interrupted = interrupted});
  }
  /// Interrupted as soon as `trials` trials of this run are over.
  RunResult run_interrupted_after(std::size_t trials, const RunPlan& plan) {
    return run(plan, [this, trials] { return seen.steps.size() >= trials; });
  }

  std::vector<store::StoredTrial> stored_trials() const {
    return store.trials(store.runs().front().id);
  }
  std::string stored_best() const {
    const auto bests = store.bests({});
    return bests.size() == 1 ? bests.front().best.config_json : "not one best";
  }

  family::Family family = toy::family();
  toy::Device device;
  store::Store store = store::Store::in_memory();
  Recorder seen;
  ManualClock clock;  // of plans with `.now = clock.now()`
  int compile_threads = 1;
};

inline constexpr const char* kDefault = R"({"DEPTH":1,"TILE":2})";
inline constexpr const char* kFastest = R"({"DEPTH":2,"TILE":3})";

}  // namespace tuner::session
