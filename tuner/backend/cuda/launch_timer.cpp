// SPDX-License-Identifier: Apache-2.0
#include "tuner/backend/cuda/launch_timer.hpp"

#include <utility>

namespace tuner {

LaunchTimer::LaunchTimer(const DriverApi& driver, Stream stream, Event begin, Event end)
    : driver_(&driver), stream_(std::move(stream)), begin_(std::move(begin)), end_(std::move(end)) {}

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

Expected<double, Failure> LaunchTimer::time_once(const StreamWork& work, CUdeviceptr flush,
                                                 std::size_t flush_bytes) {
  CUstream const stream = stream_.get();
  float milliseconds = 0;
  auto done = attempt(*driver_, driver_->memset(flush, 0, flush_bytes, stream));
  if (done) done = attempt(*driver_, driver_->record_event(begin_.get(), stream));
  if (done) done = work(stream);
  if (done) done = attempt(*driver_, driver_->record_event(end_.get(), stream));
  const auto finished = attempt(*driver_, driver_->synchronize(stream));
  if (done) done = finished;
  if (done) {
    done = attempt(*driver_, driver_->elapsed_time(&milliseconds, begin_.get(), end_.get()));
  }
  if (!done) return Unexpected(done.error());
  return 1e6 * static_cast<double>(milliseconds);
}

Expected<std::vector<std::vector<double>>, Failure> LaunchTimer::time(
    std::span<const StreamWork> works, int rounds, CUdeviceptr flush, std::size_t flush_bytes) {
  std::vector<std::vector<double>> times_ns(works.size());
  for (int round = 0; round <= rounds; ++round) {
    for (std::size_t i = 0; i < works.size(); ++i) {
      const auto time_ns = time_once(works[i], flush, flush_bytes);
      if (!time_ns) return Unexpected(time_ns.error());
      if (round > 0) times_ns[i].push_back(*time_ns);
    }
  }
  return times_ns;
}

}  // namespace tuner
