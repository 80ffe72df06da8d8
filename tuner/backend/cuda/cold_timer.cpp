// SPDX-License-Identifier: Apache-2.0
#include "tuner/backend/cuda/cold_timer.hpp"

#include <algorithm>
#include <chrono>

namespace tuner {
namespace {

/// A sample is five operations on the stream, or a few more where the library takes several
/// kernels: what is behind the gate stays below its 1024.
constexpr std::size_t kMostBehindGate = 100;

/// Writing twice the cache's size leaves nothing of what was there whatever the replacement
/// policy; the floor gives the clock's reading a span to be measured over.
std::size_t flush_size(std::int64_t l2_bytes) {
  constexpr std::size_t kFloor = std::size_t{128} << 20;
  return std::max(2 * static_cast<std::size_t>(l2_bytes), kFloor);
}

/// A flush does not evict lines that are marked as persisting (karpathy/llm.c #851). GPUs that
/// cannot mark any refuse, which is as good.
void forget_persisting_lines() {
  static_cast<void>(attempt(cudaCtxResetPersistingL2Cache()));
}

Failure gate_expired() {
  return {Outcome::unstable,
          "the samples could not be enqueued within 5 s, twice: the work waits for the device by "
          "itself, so that launch latency would be in its time"};
}

}  // namespace

ColdTimer::ColdTimer(const Compiler& compiler, cudaStream_t stream, StreamGate& gate,
                     const DeviceAttributes& device)
    : stream_(stream),
      gate_(gate),
      clocks_(compiler, stream, static_cast<int>(device.sm_count)),
      flush_bytes_(flush_size(device.l2_bytes)),
      flush_memory_(make_device_memory(flush_bytes_)) {
  // The driver may load its own kernel for this when it is first asked: not behind a closed gate.
  check(cudaMemsetAsync(flush_memory_.get(), 0, flush_bytes_, stream_), "flush the GPU's cache");
  check(cudaStreamSynchronize(stream_), "flush the GPU's cache");
}

Expected<std::vector<Sample>, Failure> ColdTimer::time(const Enqueue& work,
                                                       const SamplePlan& plan) {
  if (auto warm = warm_up(work, plan); !warm) return Unexpected(warm.error());
  std::vector<Sample> samples;
  const auto count = static_cast<std::size_t>(plan.samples);
  while (samples.size() < count) {
    auto batch = time_batch(work, std::min(kMostBehindGate, count - samples.size()));
    if (!batch) return batch;
    samples.insert(samples.end(), batch->begin(), batch->end());
  }
  return samples;
}

Expected<void, Failure> ColdTimer::warm_up(const Enqueue& work, const SamplePlan& plan) {
  constexpr int kMostAtOnce = 64;
  const auto begin = std::chrono::steady_clock::now();
  const auto warmed_ns = [&] {
    const auto time = std::chrono::steady_clock::now() - begin;
    return std::chrono::duration<double, std::nano>(time).count();
  };
  int runs = 0;
  // Each time as many as so far, so that waiting for them costs little and too long by little.
  for (int at_once = 1; runs < plan.warm_up || warmed_ns() < plan.warm_up_ns;
       at_once = std::min(2 * at_once, kMostAtOnce)) {
    for (int i = 0; i < at_once; ++i, ++runs) {
      if (auto done = work(); !done) return done;
    }
    if (auto finished = finish(stream_); !finished) return finished;
  }
  return {};
}

Expected<std::vector<Sample>, Failure> ColdTimer::time_batch(const Enqueue& work,
                                                             std::size_t count) {
  while (events_.size() < count) events_.emplace_back();
  auto in_time = run_batch(work, count);
  // What the first run has to load is loaded for the second.
  if (in_time && !*in_time) in_time = run_batch(work, count);
  if (!in_time) return Unexpected(in_time.error());
  if (!*in_time) return Unexpected(gate_expired());

  const auto clocks_mhz = clocks_.clocks();
  if (!clocks_mhz) return Unexpected(clocks_mhz.error());
  std::vector<Sample> samples;
  for (std::size_t i = 0; i < count; ++i) {
    samples.push_back(
        {.time_ns = elapsed_ns(events_[i].begin, events_[i].end), .clock_mhz = (*clocks_mhz)[i]});
  }
  return samples;
}

Expected<bool, Failure> ColdTimer::run_batch(const Enqueue& work, std::size_t count) {
  forget_persisting_lines();
  if (auto ready = clocks_.prepare(count + 1); !ready) return Unexpected(ready.error());
  if (auto closed = gate_.close(); !closed) return Unexpected(closed.error());
  const auto enqueued = enqueue(work, count);
  gate_.open();
  if (auto finished = finish(stream_); !finished) return Unexpected(finished.error());
  if (!enqueued) return Unexpected(enqueued.error());
  return !gate_.expired();
}

Expected<void, Failure> ColdTimer::enqueue(const Enqueue& work, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    if (auto done = clocks_.read(i); !done) return done;
    if (auto done = enqueue_sample(work, events_[i]); !done) return done;
  }
  return clocks_.read(count);
}

Expected<void, Failure> ColdTimer::enqueue_sample(const Enqueue& work, const Events& events) {
  if (auto done = attempt(cudaMemsetAsync(flush_memory_.get(), 0, flush_bytes_, stream_)); !done) {
    return done;
  }
  if (auto done = attempt(cudaEventRecord(events.begin.get(), stream_)); !done) return done;
  if (auto done = work(); !done) return done;
  return attempt(cudaEventRecord(events.end.get(), stream_));
}

}  // namespace tuner
