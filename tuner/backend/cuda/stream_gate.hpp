// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/backend/cuda/cuda_kernel.hpp"
#include "tuner/backend/cuda/runtime.hpp"

#include <cuda_runtime_api.h>

namespace tuner::backend {

/// Holds a stream back until everything is on it, so that no launch latency falls between two
/// pieces of work. What is enqueued meanwhile must not wait for the device (loading code for a
/// first launch does): then the gate opens by itself after 5 s, and says so.
class StreamGate {
 public:
  /// Throws Error(failure) when its kernel cannot be made.
  StreamGate(const Compiler& compiler, cudaStream_t stream);

  /// Fewer than 1024 operations may be enqueued behind a closed gate: the host waits for room in
  /// the stream's queue beyond that, and the gate for the host.
  Expected<void, Failure> close();
  void open();
  /// Whether it opened by itself, since it was last closed. To be asked when the stream is idle.
  [[nodiscard]] bool expired() const;

 private:
  /// Seen by both sides.
  struct Flags {
    int released = 0;
    int expired = 0;
  };

  [[nodiscard]] volatile Flags* flags() const {
    return reinterpret_cast<volatile Flags*>(memory_.get());
  }

  PinnedMemory memory_;
  CudaKernel kernel_;
  Enqueue hold_;
};

}  // namespace tuner::backend
