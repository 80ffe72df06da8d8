// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/backend/cuda/driver.hpp"
#include "tuner/backend/executor.hpp"

#include <cstddef>
#include <memory>
#include <span>
#include <type_traits>
#include <vector>

namespace tuner {

/// Times work of many kinds side by side with the driver alone. The memory that is written before
/// each run to empty the cache keeps the device busy until the run is enqueued, so that no launch
/// latency falls between the events.
class LaunchTimer {
 public:
  /// In the current context. The driver must outlive it.
  [[nodiscard]] static Expected<LaunchTimer, Failure> make(const DriverApi& driver);

  /// As Executor::time; `flush_bytes` of memory of the caller's are overwritten.
  [[nodiscard]] Expected<std::vector<std::vector<double>>, Failure> time(
      std::span<const StreamWork> works, int rounds, CUdeviceptr flush, std::size_t flush_bytes);

 private:
  using Stream = std::unique_ptr<std::remove_pointer_t<CUstream>, PFN_cuStreamDestroy_v4000>;
  using Event = std::unique_ptr<std::remove_pointer_t<CUevent>, PFN_cuEventDestroy_v4000>;

  LaunchTimer(const DriverApi& driver, Stream stream, Event begin, Event end);

  /// Nanoseconds of one run.
  [[nodiscard]] Expected<double, Failure> time_once(const StreamWork& work, CUdeviceptr flush,
                                                    std::size_t flush_bytes);

  const DriverApi* driver_;
  Stream stream_;
  Event begin_, end_;
};

}  // namespace tuner
