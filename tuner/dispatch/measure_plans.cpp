// SPDX-License-Identifier: Apache-2.0
#include "tuner/dispatch/measure_plans.hpp"

#include "tuner/dispatch/plan_rounds.hpp"
#include "tuner/measure/rounds.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <random>
#include <utility>

namespace tuner::dispatch {
namespace {

/// Of rounds on a stream, by the host's clock.
constexpr std::chrono::milliseconds kBudget{15};
/// On the device, after which no further plan is tried, if there are enough. What a library loads
/// with its first launch does not count: the first choice of a process has no fewer plans.
constexpr double kFirstLaunchesNs = 15e6;
constexpr std::size_t kEnoughPlans = 6;
/// Warming up: series that take so long, until they are no faster than those before.
constexpr double kWarmUpNs = 2e6;
constexpr int kMostWarmUps = 8;
constexpr double kNoFaster = 0.97;
constexpr std::size_t kFewestRounds = 4;
constexpr std::size_t kMostRounds = 40;
constexpr double kSeriesNs = 100e3;
constexpr double kMostLaunches = 32;  // of a series
/// In graphs: of rounds; how many of the fastest take part; the length of a series, in which the
/// launch of the graph itself hardly counts.
constexpr std::chrono::milliseconds kGraphBudget{10};
constexpr std::size_t kMostInGraphs = 3;
constexpr double kGraphNs = 400e3;
constexpr double kMostInGraph = 128;
/// What takes so many times as long as the fastest is not timed again.
constexpr double kHopeless = 3;

/// Series of launches by one plan.
class Series {
 public:
  Series(backend::Executor& executor, EpochReclaimer& reclaimer, const TrialLaunches& launches,
         const LaunchPlan& plan)
      : executor_(executor), reclaimer_(reclaimer), launches_(launches), plan_(plan) {}

  [[nodiscard]] int launches() const { return count_; }
  /// As many launches as take `series_ns`, where one takes so long, at most `most`.
  void set_length(double launch_ns, double series_ns, double most) {
    count_ =
        static_cast<int>(std::clamp(std::round(series_ns / std::max(launch_ns, 1.0)), 1.0, most));
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
        library_(library),
        rounds_(plans.size(), library) {
    for (const LaunchPlan& plan : plans) series_.emplace_back(executor, reclaimer, launches, plan);
  }

  [[nodiscard]] Expected<MeasuredPlans, Failure> run() {
    auto done = clear();
    if (done) done = try_each();
    if (done) done = warm_up();
    if (done) done = run_rounds(rounds_, contenders(), kBudget);
    if (done) done = compare_in_graphs();
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
    result.order = in_graphs_;
    for (const std::size_t plan : rounds_.order()) {
      if (std::ranges::count(in_graphs_, plan) == 0) result.order.push_back(plan);
    }
    result.is_complete = is_complete_;
    result.rounds = rounds_.count();
    result.in_graphs = in_graphs_.size();
    for (std::size_t i = 0; i < series_.size(); ++i) {
      const auto time_ns = rounds_.time_ns(i);
      if (!time_ns && alone_ns_[i]) result.order.push_back(i);
      result.times_ns.push_back(time_ns ? time_ns : alone_ns_[i]);
    }
    for (const auto& [plan, ns] : graph_ns_) result.times_ns[plan] = ns;
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
      series_[i].set_length(alone_ns, kSeriesNs, kMostLaunches);
    }
    for (std::size_t i = 0; i < series_.size(); ++i) {
      if (!alone_ns_[i] || *alone_ns_[i] > kHopeless * fastest_ns) rounds_.remove(i);
    }
    return {};
  }

  /// The clock of a device falls in the pauses between first launches, and needs some milliseconds
  /// of work to rise: plans of a first round at a rising clock would differ by it.
  [[nodiscard]] Expected<void, Failure> warm_up() {
    if (rounds_.left().size() <= 1) return {};
    const std::size_t plan = rounds_.left().front();
    const double series_ns = *alone_ns_[plan] * series_[plan].launches();
    const auto count = static_cast<std::size_t>(std::clamp(kWarmUpNs / series_ns, 2.0, 20.0));
    const std::vector<backend::StreamWork> works(count, work_of(plan));
    double before_ns = std::numeric_limits<double>::infinity();
    for (int i = 0; i < kMostWarmUps; ++i) {
      const auto times_ns = executor_.time(works);
      if (!times_ns) return Unexpected(times_ns.error());
      const double now_ns = *measure::quantile(*times_ns, 0.5);
      if (now_ns > kNoFaster * before_ns) return {};
      before_ns = now_ns;
    }
    return {};
  }

  /// What takes part in rounds.
  struct Contender {
    backend::StreamWork series;
    int launches = 1;
  };
  [[nodiscard]] std::vector<Contender> contenders() {
    std::vector<Contender> all;
    for (std::size_t i = 0; i < series_.size(); ++i) {
      all.push_back({work_of(i), series_[i].launches()});
    }
    return all;
  }

  [[nodiscard]] Expected<void, Failure> run_rounds(PlanRounds& rounds,
                                                   const std::vector<Contender>& contenders,
                                                   std::chrono::milliseconds budget) {
    const auto begin = std::chrono::steady_clock::now();
    while (!is_over(rounds, std::chrono::steady_clock::now() - begin, budget)) {
      const auto times_ns = round(rounds, contenders);
      if (!times_ns) return Unexpected(times_ns.error());
      rounds.add(*times_ns);
    }
    return {};
  }

  [[nodiscard]] static bool is_over(const PlanRounds& rounds,
                                    std::chrono::steady_clock::duration passed,
                                    std::chrono::milliseconds budget) {
    if (rounds.count() == 0) return rounds.left().empty();
    if (rounds.is_decided() || rounds.count() >= kMostRounds) return true;
    return rounds.count() >= kFewestRounds && passed > budget;
  }

  /// The time of a launch by each that is left, in their order.
  [[nodiscard]] Expected<std::vector<double>, Failure> round(
      const PlanRounds& rounds, const std::vector<Contender>& contenders) {
    const std::vector<std::size_t>& left = rounds.left();
    std::vector<std::size_t> shuffled(left.size());
    for (std::size_t i = 0; i < left.size(); ++i) shuffled[i] = i;
    std::ranges::shuffle(shuffled, random_);
    std::vector<backend::StreamWork> works;
    for (const std::size_t place : shuffled) works.push_back(contenders[left[place]].series);
    const auto series_ns = executor_.time(works);
    if (!series_ns) return Unexpected(series_ns.error());
    std::vector<double> times_ns(left.size());
    for (std::size_t i = 0; i < shuffled.size(); ++i) {
      times_ns[shuffled[i]] = (*series_ns)[i] / contenders[left[shuffled[i]]].launches;
    }
    return times_ns;
  }

  /// In graphs the pauses between launches are shorter than on a stream, by other amounts for the
  /// library than for kernels, and applications use both: what is faster than the library on a
  /// stream is compared with it in graphs, and those times decide.
  [[nodiscard]] Expected<void, Failure> compare_in_graphs() {
    std::vector<std::size_t> plans;
    std::vector<Contender> graphs;
    const auto record = [&](std::size_t plan) {
      series_[plan].set_length(*rounds_.time_ns(plan), kGraphNs, kMostInGraph);
      auto graph = executor_.record(work_of(plan));
      if (!graph) return false;
      plans.push_back(plan);
      graphs.push_back({*std::move(graph), series_[plan].launches()});
      return true;
    };
    for (const std::size_t plan : rounds_.order()) {
      if (plan == library_ || plans.size() == kMostInGraphs) break;
      record(plan);
    }
    if (plans.empty() || !library_ || !rounds_.time_ns(*library_) || !record(*library_)) return {};
    PlanRounds rounds(plans.size(), plans.size() - 1);
    if (auto done = run_rounds(rounds, graphs, kGraphBudget); !done) return done;
    for (const std::size_t i : rounds.order()) {
      in_graphs_.push_back(plans[i]);
      graph_ns_[plans[i]] = *rounds.time_ns(i);
    }
    return {};
  }

  [[nodiscard]] backend::StreamWork work_of(std::size_t plan) {
    return
        [&series = series_[plan]](backend::StreamHandle stream) { return series.enqueue(stream); };
  }

  backend::Executor& executor_;
  const TrialLaunches& launches_;
  std::vector<Series> series_;
  std::vector<std::optional<double>> alone_ns_;  // of a launch, by plan; none: it did not run
  std::optional<std::size_t> library_;
  PlanRounds rounds_;                       // on a stream
  std::vector<std::size_t> in_graphs_;      // plans in the order of a comparison in graphs
  std::map<std::size_t, double> graph_ns_;  // by plan
  double ran_ns_ = 0;                       // on the device, alone
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
