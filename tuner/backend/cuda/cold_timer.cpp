// SPDX-License-Identifier: Apache-2.0
#include "tuner/backend/cuda/cold_timer.hpp"

#include <algorithm>

namespace tuner {
namespace {

/// Writing twice the cache's size leaves nothing of what was there whatever the replacement
/// policy; the floor keeps the device busy for the time of a launch where the cache is small.
std::size_t flush_size(std::size_t l2_bytes) {
  constexpr std::size_t kFloor = std::size_t{128} << 20;
  return std::max(2 * l2_bytes, kFloor);
}

}  // namespace

ColdTimer::ColdTimer(cudaStream_t stream, std::size_t l2_bytes)
    : stream_(stream),
      flush_bytes_(flush_size(l2_bytes)),
      flush_memory_(make_device_memory(flush_bytes_)) {}

Expected<std::vector<double>, Failure> ColdTimer::time(const Enqueue& work,
                                                       const SamplePlan& plan) {
  const auto count = static_cast<std::size_t>(plan.samples);
  while (samples_.size() < count) samples_.emplace_back();

  auto enqueued = enqueue(work, plan);
  if (auto finished = finish(stream_); !finished) return Unexpected(finished.error());
  if (!enqueued) return Unexpected(enqueued.error());

  std::vector<double> times_ns;
  for (std::size_t i = 0; i < count; ++i) {
    float time_ms = 0.0F;
    check(cudaEventElapsedTime(&time_ms, samples_[i].begin.get(), samples_[i].end.get()),
          "read a CUDA event");
    times_ns.push_back(1e6 * static_cast<double>(time_ms));
  }
  return times_ns;
}

Expected<void, Failure> ColdTimer::enqueue(const Enqueue& work, const SamplePlan& plan) {
  for (int i = 0; i < plan.warm_up; ++i) {
    if (auto done = work(); !done) return done;
  }
  for (std::size_t i = 0; i < static_cast<std::size_t>(plan.samples); ++i) {
    if (auto done = enqueue_sample(work, samples_[i]); !done) return done;
  }
  return {};
}

Expected<void, Failure> ColdTimer::enqueue_sample(const Enqueue& work, const Sample& sample) {
  if (auto done = attempt(cudaMemsetAsync(flush_memory_.get(), 0, flush_bytes_, stream_)); !done) {
    return done;
  }
  if (auto done = attempt(cudaEventRecord(sample.begin.get(), stream_)); !done) return done;
  if (auto done = work(); !done) return done;
  return attempt(cudaEventRecord(sample.end.get(), stream_));
}

}  // namespace tuner
