// SPDX-License-Identifier: Apache-2.0
#include "tuner/backend/cuda/launch_timer.hpp"

#include <utility>

namespace tuner::backend {

LaunchTimer::LaunchTimer(const DriverApi& driver, Stream stream, Event begin, Event end)
    : driver_(&driver),
      stream_(std::move(stream)),
      begin_(std::move(begin)),
      end_(std::move(end)) {}

Expected<LaunchTimer, Failure> LaunchTimer::make(const DriverApi& driver) {
  CUstream stream = nullptr;
  auto done = attempt(driver, driver.create_stream(&stream, CU_STREAM_NON_BLOCKING));
  if (!done) return Unexpected(done.error());
  Stream owned_stream(stream, driver.destroy_stream);
  CUevent events[2] = {};
  for (CUevent& event : events) {
    done = attempt(driver, driver.create_event(&event, CU_EVENT_DEFAULT));
    if (!done) break;
  }
  LaunchTimer timer(driver, std::move(owned_stream), Event(events[0], driver.destroy_event),
                    Event(events[1], driver.destroy_event));
  if (!done) return Unexpected(done.error());
  return timer;
}

Expected<LaunchTimer::Run, Failure> LaunchTimer::run(const StreamWork& work, const Flush& flush) {
  CUstream const stream = stream_.get();
  float milliseconds = 0;
  Expected<void, Failure> done;
  for (int i = 0; done && i < flush.times; ++i) {
    done = attempt(*driver_, driver_->memset(flush.memory, 0, flush.size_bytes, stream));
  }
  if (done) done = attempt(*driver_, driver_->record_event(begin_.get(), stream));
  if (done) done = work(stream);
  if (done) done = attempt(*driver_, driver_->record_event(end_.get(), stream));
  const bool late = done && driver_->query_event(begin_.get()) == CUDA_SUCCESS;
  const auto finished = attempt(*driver_, driver_->synchronize(stream));
  if (done) done = finished;
  if (done) {
    done = attempt(*driver_, driver_->elapsed_time(&milliseconds, begin_.get(), end_.get()));
  }
  if (!done) return Unexpected(done.error());
  return Run{.time_ns = 1e6 * static_cast<double>(milliseconds), .late = late};
}

Expected<double, Failure> LaunchTimer::time_once(const StreamWork& work, Flush& flush) {
  constexpr int kMostFlushes = 64;
  for (;;) {
    const auto timed = run(work, flush);
    if (!timed) return Unexpected(timed.error());
    if (!timed->late || flush.times == kMostFlushes) return timed->time_ns;
    flush.times *= 2;
  }
}

Expected<std::vector<std::vector<double>>, Failure> LaunchTimer::time(
    std::span<const StreamWork> works, int rounds, CUdeviceptr flush_memory,
    std::size_t flush_bytes) {
  Flush flush{.memory = flush_memory, .size_bytes = flush_bytes};
  std::vector<std::vector<double>> times_ns(works.size());
  for (int round = 0; round <= rounds; ++round) {
    for (std::size_t i = 0; i < works.size(); ++i) {
      if (round == 0) {
        // Loads what has to be loaded, which takes the host long.
        if (const auto first = run(works[i], flush); !first) return Unexpected(first.error());
        continue;
      }
      const auto time_ns = time_once(works[i], flush);
      if (!time_ns) return Unexpected(time_ns.error());
      times_ns[i].push_back(*time_ns);
    }
  }
  return times_ns;
}

}  // namespace tuner::backend
