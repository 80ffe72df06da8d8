// SPDX-License-Identifier: Apache-2.0
#include "tuner/worker/timed_launches.hpp"

#include "tuner/core/failpoint.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <map>
#include <utility>

namespace tuner::worker {

using verify::PoisonKind;

PoisonKind TimedLaunches::any_poison() {
  return static_cast<PoisonKind>(random_() % verify::kPoisonKinds);
}

bool TimedLaunches::has_state() {
  has_state_ = has_state_ || candidate_.scratch != nullptr ||
               backend_.has_changed_variables(candidate_.launch.kernel);
  return has_state_;
}

void TimedLaunches::restore_scratch() {
  if (candidate_.scratch != nullptr) candidate_.scratch->restore();
}

backend::Work TimedLaunches::before_launch() {
  restore_scratch();
  backend::Launch preparation = instance_.preparation(any_poison());
  // Copies to unchanged variables are left out: an image that includes CUB has over a thousand,
  // more than may be enqueued before a timed launch.
  if (has_state()) preparation.restores = candidate_.launch.kernel;
  return preparation;
}

Expected<void, Failure> TimedLaunches::after_launch() {
  constexpr unsigned kInspected = 4;  // one in so many
  if (!one_in(kInspected)) return {};
  return inspect("in a timed launch");
}

Expected<void, Failure> TimedLaunches::inspect(const char* when) {
  auto right = instance_.inspect();
  if (right && candidate_.scratch != nullptr) {
    if (auto overrun = candidate_.scratch->overrun()) {
      right = Unexpected(Failure{Outcome::out_of_bounds, std::move(*overrun)});
    }
  }
  if (right) return {};
  right.error().message += fmt::format("; {}", when);
  return Unexpected(std::move(right.error()));
}

std::vector<backend::Work> TimedLaunches::before_series() {
  restore_scratch();
  using enum OperandCopies::Outputs;
  const OperandCopies::Outputs first = one_in(2) ? own : next;
  runs_ = copies_().runs(candidate_.launch, first);
  // A kernel that remembers its launches may compute the first time alone.
  if (has_state()) {
    std::ranges::move(copies_().runs(candidate_.launch, first == own ? next : own),
                      std::back_inserter(runs_));
  }
  std::ranges::shuffle(runs_, random_);
  std::vector<backend::Work> works;
  for (const OperandCopies::Run& run : runs_) works.push_back(run.work);
  return works;
}

Expected<void, Failure> TimedLaunches::after_series(std::int64_t runs) {
  constexpr std::size_t kInspected = 2;
  if (instance_.updates_in_place()) return check_next_launches();
  const auto count = static_cast<std::int64_t>(runs_.size());
  std::map<std::size_t, bool> inputs;  // of the last run on each set: whether they are changed
  for (std::int64_t i = std::max<std::int64_t>(0, runs - count); i < runs; ++i) {
    const OperandCopies::Run& run = runs_[static_cast<std::size_t>(i % count)];
    inputs[run.outputs] = run.is_changed;
  }
  std::vector<std::pair<std::size_t, bool>> looked_at;
  std::ranges::sample(inputs, std::back_inserter(looked_at), kInspected, random_);
  const OperandCopies& copies = copies_();
  // Set 0, the first, is the instance's own memory, which is prepared for single launches, too.
  const verify::Poison own = instance_.poison();
  for (const auto& [set, is_changed] : looked_at) {
    verify::Instance& of = is_changed ? *instance_.changed() : instance_;
    auto right = of.inspect_copied(copies.outputs(set), set == 0 ? own : copies.poison());
    if (right) continue;
    right.error().message += "; in launches back to back, which alternate between two inputs";
    return Unexpected(std::move(right.error()));
  }
  return check_next_launches();
}

void TimedLaunches::before_repetition() {
  restore_scratch();
  instance_.prepare_launch(any_poison());
}

Expected<void, Failure> TimedLaunches::after_repetition() {
  if (!instance_.updates_in_place()) {
    if (auto right = inspect("in launches back to back"); !right) return right;
  }
  return check_next_launches();
}

Expected<void, Failure> TimedLaunches::check_next_launches() {
  verify::Instance* const changed = instance_.changed();
  if (changed != nullptr && !instance_.updates_in_place()) {
    // Outputs still hold what belongs to the other inputs.
    instance_.prepare_launch(any_poison());
    if (auto done = backend_.run(candidate_.launch); !done) return done;
    if (instance_.writes_all() && changed->writes_all()) {
      changed->prepare_inputs();
    } else {
      changed->prepare_launch(any_poison());
    }
    if (auto done = backend_.run(candidate_.launch); !done) return done;
    const auto right = changed->inspect();
    instance_.prepare_inputs();
    if (!right) {
      Failure failure = right.error();
      failure.message += "; in a launch on other inputs behind launches back to back";
      return Unexpected(std::move(failure));
    }
  }
  if (!has_state()) return {};
  instance_.prepare_launch(any_poison());
  if (auto done = backend_.run(candidate_.launch); !done) return done;
  return inspect("in the launch behind launches back to back");
}

Expected<void, Failure> TimedLaunches::check_state() {
  auto right = check_many_launches();
  return right ? compare_times_with_state() : right;
}

Expected<void, Failure> TimedLaunches::check_many_launches() {
  constexpr unsigned kFewest = 256;
  constexpr std::chrono::milliseconds kLongest{2000};
  if (!has_state()) return {};
  instance_.prepare_launch(any_poison());
  const auto begin = std::chrono::steady_clock::now();
  const std::uint64_t count = kFewest + random_() % kFewest;
  for (std::uint64_t i = 0; i < count; ++i) {
    if (std::chrono::steady_clock::now() - begin > kLongest) break;
    if (auto done = backend_.run(candidate_.launch); !done) return done;
  }
  return check_next_launches();
}

Expected<double, Failure> TimedLaunches::time_behind(std::uint64_t launches,
                                                     std::optional<backend::KernelId> restores) {
  for (; launches > 0; --launches) {
    if (auto done = backend_.run(candidate_.launch); !done) return Unexpected(done.error());
  }
  backend::Launch preparation = instance_.preparation(any_poison());
  preparation.restores = restores;
  if (restores) restore_scratch();
  const auto sample = backend_.time(candidate_.launch, {.samples = 1, .before = preparation});
  if (!sample) return Unexpected(sample.error());
  return sample->front().time_ns;
}

Expected<void, Failure> TimedLaunches::compare_times_with_state() {
  // The least of so many times hardly depends on what else runs.
  constexpr int kTimes = 11, kFewest = 3, kAttempts = 4;
  constexpr std::uint64_t kMostBefore = 32;
  constexpr std::chrono::milliseconds kLongest{2000};
  constexpr double kMostSaved = 0.8;
  if (!has_state()) return {};
  double kept_ns = 0, restored_ns = 0;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    std::vector<double> kept, restored;
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < kTimes; ++i) {
      if (i >= kFewest && std::chrono::steady_clock::now() - begin > kLongest) break;
      // Some kernels take over results behind several launches only. Both times stand behind as
      // many, so that only the state differs.
      const std::uint64_t launches = random_() % kMostBefore;
      const auto fresh = time_behind(launches, candidate_.launch.kernel);
      if (!fresh) return Unexpected(fresh.error());
      const auto next = time_behind(launches, std::nullopt);
      if (!next) return Unexpected(next.error());
      restored.push_back(*fresh);
      kept.push_back(*next);
    }
    kept_ns = std::ranges::min(kept);
    restored_ns = std::ranges::min(restored);
    if (kept_ns >= kMostSaved * restored_ns) return {};
  }
  return Unexpected(Failure{
      Outcome::implausible,
      fmt::format(
          "a launch takes {:.3g} times as long when the variables of the kernel and its "
          "scratch memory hold what they held at first as behind another launch on the "
          "same inputs: it takes over results of that launch, or work that it did only once",
          restored_ns / kept_ns)});
}

}  // namespace tuner::worker
