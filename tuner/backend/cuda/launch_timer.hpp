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

/// Times work of several kinds in interleaved rounds, by the driver API alone. The writes that
/// flush the cache before each run keep the device busy until the run is enqueued, so that no
/// launch latency lies between the events; if the host was too slow, more is written and the run
/// repeated. There is no gate that the host opens: another thread of the application that waits for
/// the device could keep the host from opening it. Unlike in ColdTimer, evict-last lines stay in
/// the cache: resetting them would reset the application's; and written lines are written back
/// during the run. Without a kernel the driver reads only by copies: flushed by 31 of them, kernels
/// at 0.45 to 0.7 of cuBLAS were chosen (H200).
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
