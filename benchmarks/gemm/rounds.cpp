// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/gemm/rounds.hpp"

#include "tuner/core/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>
#include <random>

namespace tuner::gemm_benchmark {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

/// The sets that one series goes through.
std::vector<std::size_t> sets_of(std::size_t series, const SeriesPlan& plan, std::size_t sets) {
  std::vector<std::size_t> turn(plan.launches);
  std::iota(turn.begin(), turn.end(), series * plan.launches);
  for (std::size_t& set : turn) set %= sets;
  return turn;
}

/// Ready to be launched on the stream.
backend::GraphExec instantiate(const backend::Graph& graph, cudaStream_t stream) {
  cudaGraphExec_t ready = nullptr;
  backend::check(cudaGraphInstantiate(&ready, graph.get(), 0), "make a graph ready");
  backend::GraphExec owner(ready);
  backend::check(cudaGraphUpload(ready, stream), "upload a graph");
  return owner;
}

}  // namespace

SeriesPlan plan_series(double fastest_ns, std::size_t sets) {
  constexpr double kSeries_ns = 200e3;
  // A library's launch may be three operations, and fewer than 1024 fit behind a StreamGate.
  constexpr double kMost = 300;
  const double wanted = std::ceil(kSeries_ns / std::max(fastest_ns, 1.0));
  const auto launches = static_cast<std::size_t>(std::clamp(wanted, 1.0, kMost));
  // Each set stands as often as the others and far from itself, also where one series follows
  // another.
  if (launches >= sets) return {.launches = launches - launches % sets, .series = 1};
  const std::size_t series = (sets + launches - 1) / launches;
  return {.launches = sets / series, .series = series};
}

bool is_known(const measure::MedianInterval& ratio) {
  constexpr double kHalfWidth = 0.005;
  return ratio.high - ratio.low <= 2 * kHalfWidth * ratio.median;
}

double GatedTimer::time(const backend::Enqueue& work, std::string_view what,
                        const std::function<void()>& meanwhile) {
  attempt_once(work, what, meanwhile);
  // What the first time has to load is loaded for the second.
  if (gpu_.gate().expired()) attempt_once(work, what, meanwhile);
  if (!gpu_.gate().expired()) return backend::elapsed_ns(begin_, end_);
  throw Error(ErrorCode::failure,
              fmt::format("cannot time {}: it waits for the device before it is all enqueued, so "
                          "that launch latency would be in its time",
                          what));
}

void GatedTimer::attempt_once(const backend::Enqueue& work, std::string_view what,
                              const std::function<void()>& meanwhile) {
  const std::string action = fmt::format("run {}", what);
  require(gpu_.gate().close(), "hold the stream back");
  auto enqueued = backend::attempt(cudaEventRecord(begin_.get(), gpu_.stream()));
  if (enqueued) enqueued = work();
  if (enqueued) enqueued = backend::attempt(cudaEventRecord(end_.get(), gpu_.stream()));
  gpu_.gate().open();
  meanwhile();
  const auto finished = backend::finish(gpu_.stream());
  require(enqueued, action);
  require(finished, action);
}

double LoadedTimer::time(const backend::Enqueue& next, double each_ns, std::string_view what,
                         const std::function<void()>& meanwhile) {
  constexpr double kLoad_ns = 100e6, kTimed_ns = 50e6;
  const std::string action = fmt::format("run {}", what);
  const auto enqueue_for = [&](double time_ns) {
    const int count = static_cast<int>(std::ceil(time_ns / std::max(each_ns, 1.0)));
    for (int i = 0; i < count; ++i) require(next(), action);
    return count;
  };
  enqueue_for(kLoad_ns);
  require(backend::attempt(cudaEventRecord(begin_.get(), stream_)), action);
  const int timed = enqueue_for(kTimed_ns);
  require(backend::attempt(cudaEventRecord(end_.get(), stream_)), action);
  meanwhile();
  require(backend::finish(stream_), action);
  return backend::elapsed_ns(begin_, end_) / timed;
}

backend::Graph capture(const LaunchOn& launch, const std::vector<std::size_t>& sets,
                       cudaStream_t stream) {
  backend::check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "begin a graph");
  Expected<void, Failure> enqueued;
  for (const std::size_t set : sets) {
    enqueued = launch(set);
    if (!enqueued) break;
  }
  cudaGraph_t captured = nullptr;
  const cudaError_t ended = cudaStreamEndCapture(stream, &captured);
  backend::Graph graph(captured);
  if (!enqueued) {
    static_cast<void>(cudaGetLastError());
    throw Error(ErrorCode::failure,
                fmt::format("a launch cannot be captured: {}", enqueued.error().message));
  }
  backend::check(ended, "capture launches");
  return graph;
}

std::optional<double> probe(const Contender& contender, std::size_t sets, Gpu& gpu) {
  constexpr std::size_t kSamples = 5;
  constexpr double kLongest_ns = 30e6;
  const std::string what(name(contender.role));
  const auto loaded = contender.launch(0);
  if (!loaded && loaded.error().outcome == Outcome::launch_error) return std::nullopt;
  require(loaded, "launch " + what);
  require(backend::finish(gpu.stream()), "run " + what);
  GatedTimer timer(gpu);
  std::vector<double> times_ns;
  for (double spent_ns = 0; times_ns.size() < kSamples && spent_ns < kLongest_ns;
       spent_ns += times_ns.back()) {
    const std::size_t set = (times_ns.size() + 1) % sets;
    times_ns.push_back(timer.time([&] { return contender.launch(set); }, what));
  }
  return measure::quantile(times_ns, 0.5);
}

void warm_up(std::span<const Contender> contenders, std::size_t sets, Gpu& gpu) {
  constexpr double kWarm_s = 0.05;
  const auto begin = Clock::now();
  for (std::size_t set = 0; seconds_since(begin) < kWarm_s; set = (set + 1) % sets) {
    for (const Contender& contender : contenders) {
      require(contender.launch(set), fmt::format("launch {}", name(contender.role)));
    }
    require(backend::finish(gpu.stream()), "warm the GPU up");
  }
}

Rounds::Rounds(std::span<const Contender> contenders, const SeriesPlan& plan, std::size_t sets,
               Gpu& gpu, const SmClock& clock, Regime regime)
    : contenders_(contenders),
      plan_(plan),
      sets_(sets),
      stream_(gpu.stream()),
      clock_(clock),
      regime_(regime),
      timer_(gpu),
      loaded_timer_(gpu.stream()),
      graphs_(contenders.size()) {
  result_.times_ns.resize(contenders.size());
  if (!plan_.is_graph()) return;
  for (std::size_t i = 0; i < contenders.size(); ++i) {
    for (std::size_t series = 0; series < plan_.series; ++series) {
      contenders[i].before_capture();
      graphs_[i].push_back(instantiate(
          capture(contenders[i].launch, sets_of(series, plan_, sets_), stream_), stream_));
    }
  }
  require(backend::finish(stream_), "upload graphs");
}

RoundTimes Rounds::run(double budget_s) {
  constexpr std::size_t kFewest = 6;  // for an interval
  constexpr std::size_t kEnough = 30;
  const auto begin = Clock::now();
  std::vector<std::size_t> order(contenders_.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::mt19937_64 random(1);
  for (std::size_t round = 0;; ++round) {
    const bool spent = seconds_since(begin) >= budget_s;
    if (round >= kFewest && (spent || (round >= kEnough && is_decided()))) break;
    std::ranges::shuffle(order, random);
    for (const std::size_t contender : order) take_sample(contender, round);
  }
  result_.clock_mhz = measure::quantile(clocks_mhz_, 0.5);
  return result_;
}

void Rounds::take_sample(std::size_t contender, std::size_t round) {
  constexpr std::size_t kClockEvery = 5;
  const double series_ns = time_series(contender, [&] {
    if (round % kClockEvery != 0) return;
    if (const auto mhz = clock_.mhz()) {
      clocks_mhz_.push_back(*mhz);
    }
  });
  result_.times_ns[contender].push_back(series_ns / static_cast<double>(plan_.launches));
}

double Rounds::time_series(std::size_t contender, const std::function<void()>& meanwhile) {
  const std::string_view what = name(contenders_[contender].role);
  const backend::Enqueue next = [&] { return enqueue(contender, turn_++); };
  if (regime_ == Regime::alternating) return timer_.time(next, what, meanwhile);
  return loaded_timer_.time(next, timer_.time(next, what), what, meanwhile);
}

Expected<void, Failure> Rounds::enqueue(std::size_t contender, std::size_t turn) const {
  if (!plan_.is_graph()) return contenders_[contender].launch(turn % sets_);
  return backend::attempt(cudaGraphLaunch(graphs_[contender][turn % plan_.series].get(), stream_));
}

bool Rounds::is_decided() const {
  const std::vector<std::vector<double>>& times_ns = result_.times_ns;
  return std::all_of(times_ns.begin() + 1, times_ns.end(), [&](const std::vector<double>& other) {
    const auto ratio = measure::median_interval(measure::paired_ratios(other, times_ns.front()));
    return ratio && is_known(*ratio);
  });
}

}  // namespace tuner::gemm_benchmark
