// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/backend/backend.hpp"
#include "tuner/backend/cuda/clock_reader.hpp"
#include "tuner/backend/cuda/cuda_kernel.hpp"
#include "tuner/backend/cuda/runtime.hpp"
#include "tuner/backend/cuda/stream_gate.hpp"

#include <span>
#include <vector>

namespace tuner::backend {

/// Times work on a stream between two events, each run from an L2 cache that holds none of its
/// data, and reads the multiprocessors' clock over each. A run and its events are enqueued before
/// the first of them may begin, so that no launch latency falls between the events. Runs are not
/// enqueued together: lines that one marked to stay in the cache can be forgotten only on an idle
/// device.
class ColdTimer {
 public:
  /// The gate is of the same stream and must outlive the timer. Throws Error(failure) when there is
  /// no memory to flush with.
  ColdTimer(const Compiler& compiler, cudaStream_t stream, StreamGate& gate,
            const space::DeviceAttributes& device);

  /// The samples in the order taken; `before` is the plan's work before every run.
  [[nodiscard]] Expected<std::vector<Sample>, Failure> time(const Enqueue& work,
                                                            const Enqueue& before,
                                                            const SamplePlan& plan);

  /// Enqueues what precedes the work of a sample: `before`, then the emptying of the cache.
  [[nodiscard]] Expected<void, Failure> make_cold(const Enqueue& before);

 private:
  Expected<void, Failure> warm_up(const Enqueue& work, const Enqueue& before,
                                  const SamplePlan& plan);
  /// Returns whether the gate held until all was enqueued; then the events tell the sample's time.
  [[nodiscard]] Expected<bool, Failure> take_sample(const Enqueue& work, const Enqueue& before,
                                                    std::size_t index);
  Expected<void, Failure> enqueue_sample(const Enqueue& work, const Enqueue& before,
                                         std::size_t index);

  cudaStream_t stream_;
  StreamGate& gate_;
  ClockReader clocks_;
  CudaKernel reader_;
  DeviceMemory flush_memory_;
  Enqueue flush_;                                    ///< reads all of that memory
  Event begin_ = make_event(), end_ = make_event();  ///< around the work of a sample
};

}  // namespace tuner::backend
