// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "benchmarks/gemm/contender.hpp"
#include "benchmarks/gemm/gated_timer.hpp"
#include "benchmarks/gemm/series.hpp"
#include "benchmarks/gemm/sm_clock.hpp"

#include <cstddef>
#include <optional>
#include <random>
#include <span>
#include <vector>

namespace tuner::gemm_benchmark {

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

/// Rounds in which every contender has one sample, in shuffled order. Samples are taken behind a
/// gate, so that no launch latency is in them, and go through the sets of operands in turn.
class Rounds {
 public:
  /// All must outlive it. Throws Error(failure) when a launch cannot be captured.
  Rounds(std::span<const Contender> contenders, const SeriesPlan& plan, std::size_t sets, Gpu& gpu,
         const SmClock& clock);

  /// At least 30 rounds and until the ratios of all to the first contender are known, or until
  /// `budget_s` is spent and there are 6. Throws Error(failure) when a launch fails.
  [[nodiscard]] RoundTimes run(double budget_s);

 private:
  /// One sample, and in some rounds the clock while it runs.
  void take_sample(std::size_t contender, std::size_t round);
  [[nodiscard]] Expected<void, Failure> enqueue(std::size_t contender, std::size_t turn) const;
  [[nodiscard]] bool is_decided() const;

  std::span<const Contender> contenders_;
  SeriesPlan plan_;
  std::size_t sets_;
  cudaStream_t stream_;
  const SmClock& clock_;
  GatedTimer timer_;
  std::vector<std::vector<backend::GraphExec>> graphs_;  // by contender, then series
  std::size_t turn_ = 0;                                 // goes through the sets with every sample
  RoundTimes result_;
  std::vector<double> clocks_mhz_;
};

}  // namespace tuner::gemm_benchmark
