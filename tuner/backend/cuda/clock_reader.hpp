// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/backend/cuda/cuda_kernel.hpp"
#include "tuner/backend/cuda/runtime.hpp"

#include <cuda_runtime_api.h>

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace tuner::backend {

/// What one multiprocessor showed at one moment; zero when it was not read.
struct ClockReading {
  std::int64_t time_ns = 0;
  std::int64_t cycles = 0;
};

/// The clock in MHz that multiprocessors ran at between two readings of each of them: the median
/// over those read both times. Absent when there is none, or when less than 100 steps of the timer
/// passed, which would leave an error above 1 %.
[[nodiscard]] std::optional<double> clock_between(std::span<const ClockReading> before,
                                                  std::span<const ClockReading> after,
                                                  std::int64_t timer_step_ns);

/// Reads the multiprocessors' cycle counters where spans of a stream begin and end.
class ClockReader {
 public:
  /// Throws Error(failure) when its kernels cannot be made.
  ClockReader(const Compiler& compiler, cudaStream_t stream, int multiprocessors);

  /// Forgets what was read and makes room for spans 0 to count - 1. Call it on an idle stream.
  Expected<void, Failure> prepare(std::size_t count);
  /// Enqueues the reading at which the span begins, or ends.
  Expected<void, Failure> begin(std::size_t span) { return read(2 * span); }
  Expected<void, Failure> end(std::size_t span) { return read(2 * span + 1); }
  /// The clock in MHz over each span, by clock_between(). Waits for the stream.
  [[nodiscard]] Expected<std::vector<std::optional<double>>, Failure> clocks() const;

 private:
  Expected<void, Failure> read(std::size_t index);
  [[nodiscard]] std::int64_t measure_timer_step(const Compiler& compiler);

  cudaStream_t stream_;
  std::size_t multiprocessors_;
  CudaKernel kernel_;
  DeviceMemory memory_;
  std::size_t spans_ = 0, capacity_ = 0;
  std::int64_t timer_step_ns_ = 0;
};

}  // namespace tuner::backend
