// SPDX-License-Identifier: Apache-2.0
// How the contenders are timed.
#pragma once

#include "benchmarks/gemm/contender.hpp"
#include "benchmarks/gemm/gpu.hpp"
#include "tuner/backend/cuda/runtime.hpp"
#include "tuner/measure/statistics.hpp"

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace tuner::gemm_benchmark {

/// One sample is a series of launches, timed as one and divided.
struct SeriesPlan {
  std::size_t launches = 1;  ///< in one series
  std::size_t series = 1;    ///< different ones of a contender, which go through all operand sets

  [[nodiscard]] bool is_graph() const { return launches > 1; }
  bool operator==(const SeriesPlan&) const = default;
};

/// Launches below 200 µs are timed in graphs of so many as take about that long, at most 300: two
/// events around a single one would add a microsecond or two to each contender and draw their ratio
/// towards 1, and an application repeats short kernels in graphs, too.
[[nodiscard]] SeriesPlan plan_series(double fastest_ns, std::size_t sets);

/// Whether a ratio is known to ±0.5 % or better.
[[nodiscard]] bool is_known(const measure::MedianInterval& ratio);

/// Times work between two events behind a gate, which opens when all of it is enqueued, so that no
/// launch latency is in the time.
class GatedTimer {
 public:
  /// The GPU must outlive it.
  explicit GatedTimer(Gpu& gpu) : gpu_(gpu) {}

  /// Nanoseconds. `meanwhile` is called when the device begins. Throws Error(failure) "cannot run
  /// <what>: …" when the work fails or waits for the device by itself.
  [[nodiscard]] double time(
      const backend::Enqueue& work, std::string_view what,
      const std::function<void()>& meanwhile = [] {});

 private:
  void attempt_once(const backend::Enqueue& work, std::string_view what,
                    const std::function<void()>& meanwhile);

  Gpu& gpu_;
  backend::Event begin_ = backend::make_event(), end_ = backend::make_event();
};

/// How contenders are timed.
enum class Regime {
  alternating,  ///< one sample each in turn: where power limits the clock, all share what it is
  sustained,    ///< each under a load of its own, at the clock that its power leaves
};

/// Times work that has run back to back for 100 ms, for 50 ms more: an H200's power limit refers to
/// an average over more than 50 ms.
class LoadedTimer {
 public:
  explicit LoadedTimer(cudaStream_t stream) : stream_(stream) {}

  /// Nanoseconds of one piece of work, of which each takes about `each_ns`. `meanwhile` is called
  /// when all is enqueued. Throws Error(failure) "cannot run <what>: …" when one fails.
  [[nodiscard]] double time(
      const backend::Enqueue& next, double each_ns, std::string_view what,
      const std::function<void()>& meanwhile = [] {});

 private:
  cudaStream_t stream_;
  backend::Event begin_ = backend::make_event(), end_ = backend::make_event();
};

/// What a contender enqueues on these sets, one after another, as a graph. Throws Error(failure)
/// when it cannot be captured.
[[nodiscard]] backend::Graph capture(const LaunchOn& launch, const std::vector<std::size_t>& sets,
                                     cudaStream_t stream);

/// Nanoseconds of one launch: the median of a few, each from operands that are not in the cache,
/// and no longer than 30 ms where one launch takes less. A first launch that is not timed loads
/// what there is to load. None when the contender refuses; throws Error(failure) when the GPU
/// faults.
[[nodiscard]] std::optional<double> probe(const Contender& contender, std::size_t sets, Gpu& gpu);

/// Keeps the device busy with the contenders for 50 ms, which brings its clock up.
void warm_up(std::span<const Contender> contenders, std::size_t sets, Gpu& gpu);

/// The times of all contenders, side by side.
struct RoundTimes {
  std::vector<std::vector<double>> times_ns;  ///< of one launch; by contender, then round
  std::optional<double> clock_mhz;            ///< median while the device was at work
};

/// Rounds in which every contender has one sample, in shuffled order. Samples have no launch
/// latency in them and go through the sets of operands in turn.
class Rounds {
 public:
  /// All must outlive it. Throws Error(failure) when a launch cannot be captured.
  Rounds(std::span<const Contender> contenders, const SeriesPlan& plan, std::size_t sets, Gpu& gpu,
         const SmClock& clock, Regime regime = Regime::alternating);

  /// At least 30 rounds and until the ratios of all to the first contender are known, or until
  /// `budget_s` is spent and there are 6. Throws Error(failure) when a launch fails.
  [[nodiscard]] RoundTimes run(double budget_s);

 private:
  /// One sample, and in some rounds the clock while it runs.
  void take_sample(std::size_t contender, std::size_t round);
  /// Nanoseconds of one series.
  [[nodiscard]] double time_series(std::size_t contender, const std::function<void()>& meanwhile);
  [[nodiscard]] Expected<void, Failure> enqueue(std::size_t contender, std::size_t turn) const;
  [[nodiscard]] bool is_decided() const;

  std::span<const Contender> contenders_;
  SeriesPlan plan_;
  std::size_t sets_;
  cudaStream_t stream_;
  const SmClock& clock_;
  Regime regime_;
  GatedTimer timer_;
  LoadedTimer loaded_timer_;
  std::vector<std::vector<backend::GraphExec>> graphs_;  // by contender, then series
  std::size_t turn_ = 0;                                 // goes through the sets with every sample
  RoundTimes result_;
  std::vector<double> clocks_mhz_;
};

}  // namespace tuner::gemm_benchmark
