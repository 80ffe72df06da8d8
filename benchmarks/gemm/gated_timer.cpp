// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/gemm/gated_timer.hpp"

#include "tuner/core/error.hpp"

#include <fmt/format.h>

namespace tuner::gemm_benchmark {

double GatedTimer::time(const backend::Enqueue& work, std::string_view what,
                        const std::function<void()>& meanwhile) {
  attempt_once(work, what, meanwhile);
  // What the first time has to load is loaded for the second.
  if (gpu_.gate().expired()) attempt_once(work, what, meanwhile);
  if (!gpu_.gate().expired()) return backend::elapsed_ns(begin_, end_);
  throw Error(ErrorCode::failure,
              fmt::format("cannot time {}: it waits for the device before it is all enqueued, so "
                          "that launch latency would be in its time",
                          what));
}

void GatedTimer::attempt_once(const backend::Enqueue& work, std::string_view what,
                              const std::function<void()>& meanwhile) {
  const std::string action = fmt::format("run {}", what);
  require(gpu_.gate().close(), "hold the stream back");
  auto enqueued = backend::attempt(cudaEventRecord(begin_.get(), gpu_.stream()));
  if (enqueued) enqueued = work();
  if (enqueued) enqueued = backend::attempt(cudaEventRecord(end_.get(), gpu_.stream()));
  gpu_.gate().open();
  meanwhile();
  const auto finished = backend::finish(gpu_.stream());
  require(enqueued, action);
  require(finished, action);
}

}  // namespace tuner::gemm_benchmark
