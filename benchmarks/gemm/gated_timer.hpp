// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "benchmarks/gemm/gpu.hpp"

#include <functional>
#include <string_view>

namespace tuner::gemm_benchmark {

/// Times work between two events behind a gate, which opens when all of it is enqueued, so that no
/// launch latency is in the time.
class GatedTimer {
 public:
  /// The GPU must outlive it.
  explicit GatedTimer(Gpu& gpu) : gpu_(gpu) {}

  /// Nanoseconds. `meanwhile` is called when the device begins. Throws Error(failure) "cannot run
  /// <what>: …" when the work fails or waits for the device by itself.
  [[nodiscard]] double time(
      const backend::Enqueue& work, std::string_view what,
      const std::function<void()>& meanwhile = [] {});

 private:
  void attempt_once(const backend::Enqueue& work, std::string_view what,
                    const std::function<void()>& meanwhile);

  Gpu& gpu_;
  backend::Event begin_ = backend::make_event(), end_ = backend::make_event();
};

}  // namespace tuner::gemm_benchmark
