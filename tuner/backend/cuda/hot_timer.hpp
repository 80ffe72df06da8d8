// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/backend/backend.hpp"
#include "tuner/backend/cuda/runtime.hpp"
#include "tuner/backend/cuda/stream_gate.hpp"

#include <cuda_runtime_api.h>

#include <optional>
#include <span>

namespace tuner::backend {

/// Times work that runs back to back: one piece of it, whose data is in the cache as far as it
/// fits, or one and the same on copies of its data in turn. Work below 20 µs is repeated in a CUDA
/// graph, as an application repeats short kernels: launched one by one, they would be timed with
/// the device's way from one launch to the next.
class HotTimer {
 public:
  /// The gate is of the same stream and must outlive the timer.
  HotTimer(cudaStream_t stream, StreamGate& gate) : stream_(stream), gate_(gate) {}

  /// Nanoseconds of one run: the median of five series of at least 200 µs each, three runs or more
  /// unless one takes longer than that.
  [[nodiscard]] Expected<double, Failure> time(const Enqueue& work);
  /// As Backend::time_series and Backend::time_regimes.
  [[nodiscard]] Expected<SeriesTime, Failure> time_series(std::span<const Enqueue> works,
                                                          Lead lead);
  [[nodiscard]] Expected<std::optional<RegimeTimes>, Failure> time_regimes(
      std::span<const Enqueue> works);

  /// Runs back to back as one operation, and how long one of them takes.
  struct Load {
    Enqueue enqueue;
    int runs = 1;
    double run_ns = 0;
  };
  /// Of about 10 ms, one run at the least.
  [[nodiscard]] Expected<Load, Failure> load(const Enqueue& work);

 private:
  /// A series of runs as one operation, and as many as there are in it.
  struct Series {
    Enqueue enqueue;
    int runs = 1;
  };

  /// Of `works` in turn, which have run before: each as often as the others, or, where all of them
  /// would take more than 2 ms, as many as take that.
  [[nodiscard]] Expected<Series, Failure> series(std::span<const Enqueue> works);
  /// A graph of a series, or nothing where the work cannot be captured.
  [[nodiscard]] Enqueue capture(const Enqueue& series);
  [[nodiscard]] Expected<double, Failure> time_of_one(const Series& series);
  /// Of series for 50 ms that follow others for `load_ns` without a pause. `series_ns`: of one.
  [[nodiscard]] Expected<double, Failure> time_under_load(const Series& series, double series_ns,
                                                          double load_ns);
  /// Runs once what a first run has to load, which must not be loaded behind the closed gate.
  [[nodiscard]] Expected<void, Failure> load_first(std::span<const Enqueue> works);

  cudaStream_t stream_;
  StreamGate& gate_;
  Event begin_ = make_event();
  Event end_ = make_event();
};

}  // namespace tuner::backend
