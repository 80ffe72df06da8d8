// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/backend/backend.hpp"
#include "tuner/backend/cuda/runtime.hpp"

#include <vector>

namespace tuner {

/// Times work on a stream between two events, each run from an L2 cache that holds none of its
/// data. All runs are enqueued at once: while the device overwrites the cache for one, the host
/// gets ahead with the next, so that no launch latency falls between the events.
class ColdTimer {
 public:
  ColdTimer(cudaStream_t stream, std::size_t l2_bytes);

  /// The samples in nanoseconds, in the order taken.
  [[nodiscard]] Expected<std::vector<double>, Failure> time(const Enqueue& work,
                                                            const SamplePlan& plan);

 private:
  /// The events around one run.
  struct Sample {
    Event begin = make_event();
    Event end = make_event();
  };

  Expected<void, Failure> enqueue(const Enqueue& work, const SamplePlan& plan);
  Expected<void, Failure> enqueue_sample(const Enqueue& work, const Sample& sample);

  cudaStream_t stream_;
  std::size_t flush_bytes_;
  DeviceMemory flush_memory_;
  std::vector<Sample> samples_;  ///< reused from call to call
};

}  // namespace tuner
