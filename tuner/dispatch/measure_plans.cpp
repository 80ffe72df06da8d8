// SPDX-License-Identifier: Apache-2.0
#include "tuner/dispatch/measure_plans.hpp"

#include "tuner/dispatch/plan_rounds.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <numeric>
#include <random>
#include <utility>

namespace tuner::dispatch {
namespace {

/// Of rounds, by the host's clock.
constexpr std::chrono::milliseconds kBudget{25};
/// On the device, after which no further plan is tried, if there are enough. What a library loads
/// with its first launch does not count: the first choice of a process has no fewer plans.
constexpr double kFirstLaunchesNs = 15e6;
constexpr std::size_t kEnoughPlans = 6;
/// On the device, so that the first round is not timed at the clock of an idle one.
constexpr double kWarmUpNs = 5e6;
constexpr std::size_t kFewestRounds = 4;
constexpr std::size_t kMostRounds = 40;
constexpr double kSeriesNs = 100e3;
constexpr double kMostLaunches = 32;  // of a series
/// What takes so many times as long as the fastest is not timed again.
constexpr double kHopeless = 3;

/// Series of launches by one plan.
class Series {
 public:
  Series(backend::Executor& executor, EpochReclaimer& reclaimer, const TrialLaunches& launches,
         const LaunchPlan& plan)
      : executor_(executor), reclaimer_(reclaimer), launches_(launches), plan_(plan) {}

  [[nodiscard]] int launches() const { return count_; }
  /// As many launches as take long enough to be timed, where one takes so long.
  void set_length(double launch_ns) {
    count_ = static_cast<int>(
        std::clamp(std::round(kSeriesNs / std::max(launch_ns, 1.0)), 1.0, kMostLaunches));
  }
  /// Each launch takes the next set of buffers.
  [[nodiscard]] Expected<void, Failure> enqueue(backend::StreamHandle stream) {
    for (int i = 0; i < count_; ++i) {
      const auto& arguments = launches_.sets()[next_++ % launches_.sets().size()];
      auto done = enqueue_anew(executor_, reclaimer_, plan_, arguments, stream);
      if (!done) return done;
    }
    return {};
  }

 private:
  backend::Executor& executor_;
  EpochReclaimer& reclaimer_;
  const TrialLaunches& launches_;
  const LaunchPlan& plan_;
  int count_ = 1;
  std::size_t next_ = 0;
};

class Measurement {
 public:
  Measurement(backend::Executor& executor, EpochReclaimer& reclaimer, const TrialLaunches& launches,
              std::span<const LaunchPlan> plans, std::optional<std::size_t> library)
      : executor_(executor),
        launches_(launches),
        alone_ns_(plans.size()),
        rounds_(plans.size(), library) {
    for (const LaunchPlan& plan : plans) series_.emplace_back(executor, reclaimer, launches, plan);
  }

  [[nodiscard]] Expected<MeasuredPlans, Failure> run() {
    auto done = clear();
    if (done) done = try_each();
    if (done) done = warm_up();
    const auto begin = std::chrono::steady_clock::now();
    while (done && !is_over(std::chrono::steady_clock::now() - begin)) {
      auto times_ns = round();
      if (!times_ns) return Unexpected(times_ns.error());
      rounds_.add(*times_ns);
    }
    if (!done) return Unexpected(done.error());
    return result();
  }

 private:
  [[nodiscard]] Expected<void, Failure> clear() {
    if (launches_.updated().empty()) return {};
    const backend::StreamWork work = [this](backend::StreamHandle stream) {
      Expected<void, Failure> done;
      for (const auto& [begin, bytes] : launches_.updated()) {
        if (done) done = executor_.clear(begin, bytes, stream);
      }
      return done;
    };
    const auto cleared = executor_.time({&work, 1});
    if (cleared) return {};
    return Unexpected(cleared.error());
  }

  [[nodiscard]] MeasuredPlans result() const {
    MeasuredPlans result;
    result.order = rounds_.order();
    result.is_complete = is_complete_;
    for (std::size_t i = 0; i < series_.size(); ++i) {
      const auto time_ns = rounds_.time_ns(i);
      if (!time_ns && alone_ns_[i]) result.order.push_back(i);
      result.times_ns.push_back(time_ns ? time_ns : alone_ns_[i]);
    }
    return result;
  }

  /// Each alone first: what cannot be launched is left out, and the others are ready.
  [[nodiscard]] Expected<void, Failure> try_each() {
    std::size_t ran = 0;
    double fastest_ns = 0;
    for (std::size_t i = 0; i < series_.size(); ++i) {
      if (ran >= kEnoughPlans && ran_ns_ > kFirstLaunchesNs) break;
      const backend::StreamWork work = work_of(i);
      const auto time_ns = executor_.time({&work, 1});
      if (!time_ns && time_ns.error().outcome == Outcome::crashed) {
        return Unexpected(time_ns.error());
      }
      is_complete_ = is_complete_ && time_ns.has_value();
      if (!time_ns) continue;
      const double alone_ns = time_ns->front();
      ran_ns_ += 2 * alone_ns;  // once before it was timed
      fastest_ns = ran++ == 0 ? alone_ns : std::min(fastest_ns, alone_ns);
      alone_ns_[i] = alone_ns;
      series_[i].set_length(alone_ns);
    }
    for (std::size_t i = 0; i < series_.size(); ++i) {
      if (!alone_ns_[i] || *alone_ns_[i] > kHopeless * fastest_ns) rounds_.remove(i);
    }
    return {};
  }

  [[nodiscard]] Expected<void, Failure> warm_up() {
    constexpr int kMost = 50;
    for (int i = 0; i < kMost && !rounds_.left().empty() && ran_ns_ < kWarmUpNs; ++i) {
      if (const auto times_ns = round(); !times_ns) return Unexpected(times_ns.error());
    }
    return {};
  }

  [[nodiscard]] bool is_over(std::chrono::steady_clock::duration passed) const {
    if (rounds_.count() == 0) return rounds_.left().empty();
    if (rounds_.is_decided() || rounds_.count() >= kMostRounds) return true;
    return rounds_.count() >= kFewestRounds && passed > kBudget;
  }

  /// The time of a launch by each plan that is left, in their order.
  [[nodiscard]] Expected<std::vector<double>, Failure> round() {
    const std::vector<std::size_t>& left = rounds_.left();
    std::vector<std::size_t> shuffled(left.size());
    for (std::size_t i = 0; i < left.size(); ++i) shuffled[i] = i;
    std::ranges::shuffle(shuffled, random_);
    std::vector<backend::StreamWork> works;
    for (const std::size_t place : shuffled) works.push_back(work_of(left[place]));
    const auto series_ns = executor_.time(works);
    if (!series_ns) return Unexpected(series_ns.error());
    ran_ns_ += std::accumulate(series_ns->begin(), series_ns->end(), 0.0);
    std::vector<double> times_ns(left.size());
    for (std::size_t i = 0; i < shuffled.size(); ++i) {
      times_ns[shuffled[i]] = (*series_ns)[i] / series_[left[shuffled[i]]].launches();
    }
    return times_ns;
  }

  [[nodiscard]] backend::StreamWork work_of(std::size_t plan) {
    return
        [&series = series_[plan]](backend::StreamHandle stream) { return series.enqueue(stream); };
  }

  backend::Executor& executor_;
  const TrialLaunches& launches_;
  std::vector<Series> series_;
  std::vector<std::optional<double>> alone_ns_;  // of a launch, by plan; none: it did not run
  PlanRounds rounds_;
  double ran_ns_ = 0;  // on the device, so far
  std::mt19937_64 random_;
  bool is_complete_ = true;
};

}  // namespace

Expected<MeasuredPlans, Failure> measure_plans(backend::Executor& executor,
                                               EpochReclaimer& reclaimer,
                                               const TrialLaunches& launches,
                                               std::span<const LaunchPlan> plans,
                                               std::optional<std::size_t> library) {
  return Measurement(executor, reclaimer, launches, plans, library).run();
}

}  // namespace tuner::dispatch
