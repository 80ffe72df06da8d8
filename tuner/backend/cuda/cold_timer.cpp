// SPDX-License-Identifier: Apache-2.0
#include "tuner/backend/cuda/cold_timer.hpp"

#include "tuner/backend/cuda/backend_kernels.hpp"
#include "tuner/core/error.hpp"

#include <algorithm>
#include <chrono>

namespace tuner::backend {
namespace {

/// Reading twice the cache's size leaves nothing of what was there (H200: a launch then takes as
/// long as over operands in rotation); the floor gives the clock's reading a span to be measured
/// over. Lines that were written instead would be written back during the launch that follows:
/// 43.3 µs instead of 34.7 µs for a kernel that reads 134 MB.
std::size_t flush_size(std::int64_t l2_bytes) {
  constexpr std::size_t kFloor = std::size_t{128} << 20;
  return std::max(2 * static_cast<std::size_t>(l2_bytes), kFloor);
}

/// A flush does not evict lines that are marked as persisting (karpathy/llm.c #851), nor those that
/// a kernel asked to be evicted last: 16 MB read so were still there after 512 MB had been written
/// (H200). GPUs that cannot mark any refuse, which is as good.
void forget_persisting_lines() {
  static_cast<void>(attempt(cudaCtxResetPersistingL2Cache()));
}

/// A launch of the kernel that reads `size_bytes` of memory on `stream`.
Enqueue reading(CudaKernel& reader, const std::byte* memory, std::size_t size_bytes,
                cudaStream_t stream, std::int64_t multiprocessors) {
  constexpr std::uint32_t kBlocksEach = 8;
  auto launch = reader.functions().front().launch(
      {.grid = {kBlocksEach * static_cast<std::uint32_t>(multiprocessors), 1, 1},
       .block = {256, 1, 1}},
      {packed(memory), packed(static_cast<std::int64_t>(size_bytes / sizeof(uint4)))}, stream);
  if (!launch) throw Error(ErrorCode::failure, launch.error().message);
  return *std::move(launch);
}

Failure gate_expired() {
  return {Outcome::unstable,
          "a sample could not be enqueued within 5 s, twice: the work synchronizes with the "
          "device, so that its time would include launch latency"};
}

}  // namespace

ColdTimer::ColdTimer(const Compiler& compiler, cudaStream_t stream, StreamGate& gate,
                     const space::DeviceAttributes& device)
    : stream_(stream),
      gate_(gate),
      clocks_(compiler, stream, static_cast<int>(device.sm_count)),
      reader_(load_backend_kernel(compiler, "read_memory")),
      flush_memory_(make_device_memory(flush_size(device.l2_bytes))),
      flush_(reading(reader_, flush_memory_.get(), flush_size(device.l2_bytes), stream,
                     device.sm_count)) {
  check(cudaMemsetAsync(flush_memory_.get(), 0, flush_size(device.l2_bytes), stream_),
        "flush the GPU's cache");
  // What a first launch has to load is not loaded behind a closed gate.
  if (auto done = flush_(); !done) throw Error(ErrorCode::failure, done.error().message);
  check(cudaStreamSynchronize(stream_), "flush the GPU's cache");
}

Expected<std::vector<Sample>, Failure> ColdTimer::time(const Enqueue& work, const Enqueue& before,
                                                       const SamplePlan& plan) {
  if (auto warm = warm_up(work, before, plan); !warm) return Unexpected(warm.error());
  const auto count = static_cast<std::size_t>(plan.samples);
  if (auto ready = clocks_.prepare(count); !ready) return Unexpected(ready.error());
  std::vector<Sample> samples;
  for (std::size_t i = 0; i < count; ++i) {
    auto in_time = take_sample(work, before, i);
    // What the first run has to load is loaded for the second.
    if (in_time && !*in_time) in_time = take_sample(work, before, i);
    if (!in_time) return Unexpected(in_time.error());
    if (!*in_time) return Unexpected(gate_expired());
    samples.push_back({.time_ns = elapsed_ns(begin_, end_)});
  }
  const auto clocks_mhz = clocks_.clocks();
  if (!clocks_mhz) return Unexpected(clocks_mhz.error());
  for (std::size_t i = 0; i < count; ++i) samples[i].clock_mhz = (*clocks_mhz)[i];
  return samples;
}

Expected<void, Failure> ColdTimer::warm_up(const Enqueue& work, const Enqueue& before,
                                           const SamplePlan& plan) {
  constexpr double kMostAtOnce = 64;
  const auto begin = std::chrono::steady_clock::now();
  const auto warmed_ns = [&] {
    const auto time = std::chrono::steady_clock::now() - begin;
    return std::chrono::duration<double, std::nano>(time).count();
  };
  int runs = 0;
  double now_ns = 0;
  // Each time as many as so far, so that waiting for them costs little, but no more than fill
  // the time that is left: 64 runs of a slow kernel take seconds.
  while (runs < plan.warm_up || now_ns < plan.warm_up_ns) {
    const double left = runs == 0 ? 1 : (plan.warm_up_ns - now_ns) / (now_ns / runs);
    const int at_once =
        static_cast<int>(std::clamp(left, 1.0, std::clamp<double>(runs, 1, kMostAtOnce)));
    for (int i = 0; i < at_once; ++i, ++runs) {
      if (auto done = before(); !done) return done;
      if (auto done = work(); !done) return done;
    }
    if (auto finished = finish(stream_); !finished) return finished;
    now_ns = warmed_ns();
  }
  return {};
}

Expected<bool, Failure> ColdTimer::take_sample(const Enqueue& work, const Enqueue& before,
                                               std::size_t index) {
  forget_persisting_lines();
  if (auto closed = gate_.close(); !closed) return Unexpected(closed.error());
  const auto enqueued = enqueue_sample(work, before, index);
  gate_.open();
  if (auto finished = finish(stream_); !finished) return Unexpected(finished.error());
  if (!enqueued) return Unexpected(enqueued.error());
  return !gate_.expired();
}

Expected<void, Failure> ColdTimer::make_cold(const Enqueue& before) {
  forget_persisting_lines();
  if (auto done = before(); !done) return done;
  return flush_();
}

Expected<void, Failure> ColdTimer::enqueue_sample(const Enqueue& work, const Enqueue& before,
                                                  std::size_t index) {
  if (auto done = before(); !done) return done;
  if (auto done = clocks_.begin(index); !done) return done;
  if (auto done = flush_(); !done) return done;
  if (auto done = attempt(cudaEventRecord(begin_.get(), stream_)); !done) return done;
  if (auto done = work(); !done) return done;
  if (auto done = attempt(cudaEventRecord(end_.get(), stream_)); !done) return done;
  return clocks_.end(index);
}

}  // namespace tuner::backend
