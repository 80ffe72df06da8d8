// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/backend/cuda/driver.hpp"
#include "tuner/backend/executor.hpp"

#include <cstddef>
#include <memory>
#include <span>
#include <type_traits>
#include <vector>

namespace tuner::backend {

/// Times work of many kinds side by side with the driver alone. The memory that is written before
/// each run to empty the cache keeps the device busy until the run is enqueued, so that no launch
/// latency falls between the events; where the host was too slow for that, it is written more often
/// and the run repeated. A gate that the host opens would do without, but whoever waits for the
/// device meanwhile, in an application, could keep the host from opening it. Lines that a kernel
/// asked to be evicted last stay, as ColdTimer's do not: to forget them would forget the
/// application's.
class LaunchTimer {
 public:
  /// In the current context. The driver must outlive it.
  [[nodiscard]] static Expected<LaunchTimer, Failure> make(const DriverApi& driver);

  /// As Executor::time; `flush_bytes` of memory of the caller's are overwritten.
  [[nodiscard]] Expected<std::vector<std::vector<double>>, Failure> time(
      std::span<const StreamWork> works, int rounds, CUdeviceptr flush_memory,
      std::size_t flush_bytes);

 private:
  using Stream = std::unique_ptr<std::remove_pointer_t<CUstream>, PFN_cuStreamDestroy_v4000>;
  using Event = std::unique_ptr<std::remove_pointer_t<CUevent>, PFN_cuEventDestroy_v4000>;

  LaunchTimer(const DriverApi& driver, Stream stream, Event begin, Event end);

  /// What is written before a run.
  struct Flush {
    CUdeviceptr memory = 0;
    std::size_t size_bytes = 0;
    int times = 1;
  };
  /// One run.
  struct Run {
    double time_ns = 0;
    bool late = false;  ///< the device was ready for it before all of it was enqueued
  };
  [[nodiscard]] Expected<Run, Failure> run(const StreamWork& work, const Flush& flush);
  /// Nanoseconds of a run that was not late, as far as patience goes.
  [[nodiscard]] Expected<double, Failure> time_once(const StreamWork& work, Flush& flush);

  const DriverApi* driver_;
  Stream stream_;
  Event begin_, end_;
};

}  // namespace tuner::backend
