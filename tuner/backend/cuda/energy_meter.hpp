// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/backend/backend.hpp"
#include "tuner/backend/cuda/runtime.hpp"

#include <cstdint>
#include <functional>
#include <optional>

namespace tuner::backend {

/// Joules that a device has taken since some moment; none: it does not tell.
using EnergyCounter = std::function<std::optional<double>()>;

/// Energy between two steps of a counter that moves only every 20 to 100 ms: what was read between
/// them belongs to no known moment.
class EnergyWindow {
 public:
  /// In order: what the counter says at a moment, and the runs that have ended by then.
  void add(double joules, double seconds, std::int64_t runs);

  /// From the first step seen to the last one.
  [[nodiscard]] double seconds() const { return last_.seconds - first_.seconds; }
  [[nodiscard]] double joules() const { return last_.joules - first_.joules; }
  [[nodiscard]] std::int64_t runs() const { return last_.runs - first_.runs; }

 private:
  struct Reading {
    double joules = 0, seconds = 0;
    std::int64_t runs = 0;
  };

  std::optional<double> before_;  // joules of the reading before
  bool began_ = false;
  Reading first_, last_;
};

/// Measures the energy of work on a stream of the current device.
class EnergyMeter {
 public:
  EnergyMeter(EnergyCounter counter, cudaStream_t stream)
      : counter_(std::move(counter)), stream_(stream) {}

  /// As Backend::measure_energy, of `chunk`, which enqueues so many runs that take about 10 ms.
  [[nodiscard]] Expected<std::optional<EnergySample>, Failure> measure(const Enqueue& chunk,
                                                                       int runs, double window_s);
  /// As Backend::idle_watts.
  [[nodiscard]] std::optional<double> idle_watts();

 private:
  EnergyCounter counter_;
  cudaStream_t stream_;
};

}  // namespace tuner::backend
