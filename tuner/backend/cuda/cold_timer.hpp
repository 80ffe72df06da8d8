// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/backend/backend.hpp"
#include "tuner/backend/cuda/clock_reader.hpp"
#include "tuner/backend/cuda/runtime.hpp"
#include "tuner/backend/cuda/stream_gate.hpp"

#include <span>
#include <vector>

namespace tuner {

/// Times work on a stream between two events, each run from an L2 cache that holds none of its
/// data, and reads the multiprocessors' clock over each. All runs are enqueued before the first may
/// begin, so that no launch latency falls between the events.
class ColdTimer {
 public:
  /// The gate is of the same stream and must outlive the timer. Throws Error(failure) when there is
  /// no memory to flush with.
  ColdTimer(const Compiler& compiler, cudaStream_t stream, StreamGate& gate,
            const DeviceAttributes& device);

  /// The samples in the order taken.
  [[nodiscard]] Expected<std::vector<Sample>, Failure> time(const Enqueue& work,
                                                            const SamplePlan& plan);

 private:
  /// The events around one run.
  struct Events {
    Event begin = make_event();
    Event end = make_event();
  };

  Expected<void, Failure> warm_up(const Enqueue& work, const SamplePlan& plan);
  /// So many samples as fit behind the gate.
  [[nodiscard]] Expected<std::vector<Sample>, Failure> time_batch(const Enqueue& work,
                                                                  std::size_t count);
  /// Returns whether the gate held until all was enqueued.
  [[nodiscard]] Expected<bool, Failure> run_batch(const Enqueue& work, std::size_t count);
  Expected<void, Failure> enqueue(const Enqueue& work, std::size_t count);
  Expected<void, Failure> enqueue_sample(const Enqueue& work, const Events& events);

  cudaStream_t stream_;
  StreamGate& gate_;
  ClockReader clocks_;
  std::size_t flush_bytes_;
  DeviceMemory flush_memory_;
  std::vector<Events> events_;  ///< reused from call to call
};

}  // namespace tuner
