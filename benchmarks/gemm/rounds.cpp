// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/gemm/rounds.hpp"

#include "benchmarks/gemm/graph.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <numeric>

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

}  // namespace

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
               Gpu& gpu, const SmClock& clock)
    : contenders_(contenders),
      plan_(plan),
      sets_(sets),
      stream_(gpu.stream()),
      clock_(clock),
      timer_(gpu),
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
  const std::size_t turn = turn_++;
  const double time_ns =
      timer_.time([&] { return enqueue(contender, turn); }, name(contenders_[contender].role),
                  [&] {
                    if (round % kClockEvery != 0) return;
                    if (const auto mhz = clock_.mhz()) {
                      clocks_mhz_.push_back(*mhz);
                    }
                  });
  result_.times_ns[contender].push_back(time_ns / static_cast<double>(plan_.launches));
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
