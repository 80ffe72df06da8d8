// SPDX-License-Identifier: Apache-2.0
#include "tuner/backend/cuda/launch_timer.hpp"

#include <algorithm>

namespace tuner::backend {

Expected<LaunchTimer, Failure> LaunchTimer::make(const DriverApi& driver,
                                                 std::shared_ptr<void> filler) {
  CUstream stream = nullptr;
  const auto done = attempt(driver, driver.create_stream(&stream, CU_STREAM_NON_BLOCKING));
  if (!done) return Unexpected(done.error());
  return LaunchTimer(driver, Stream(stream, driver.destroy_stream), std::move(filler));
}

Expected<LaunchTimer::Event, Failure> LaunchTimer::make_event() const {
  CUevent event = nullptr;
  const auto done = attempt(*driver_, driver_->create_event(&event, CU_EVENT_DEFAULT));
  if (!done) return Unexpected(done.error());
  return Event(event, driver_->destroy_event);
}

Expected<void, Failure> LaunchTimer::make_spans(std::size_t count) {
  while (spans_.size() < count) {
    auto begin = make_event();
    if (!begin) return Unexpected(begin.error());
    auto end = make_event();
    if (!end) return Unexpected(end.error());
    spans_.push_back({.begin = *std::move(begin), .end = *std::move(end)});
  }
  return {};
}

Expected<void, Failure> LaunchTimer::fill() const {
  const auto memory = reinterpret_cast<CUdeviceptr>(filler_.get());
  for (int i = 0; i < fills_; ++i) {
    auto done = attempt(*driver_, driver_->memset(memory, 0, kFillerBytes, stream_.get()));
    if (!done) return done;
  }
  return {};
}

Expected<void, Failure> LaunchTimer::enqueue(const StreamWork& work, Span& span) const {
  span.fills = fills_;
  auto done = fill();
  if (done) done = attempt(*driver_, driver_->record_event(span.begin.get(), stream_.get()));
  if (done) done = work(stream_.get());
  if (done) done = attempt(*driver_, driver_->record_event(span.end.get(), stream_.get()));
  span.is_late = done && driver_->query_event(span.begin.get()) == CUDA_SUCCESS;
  return done;
}

Expected<void, Failure> LaunchTimer::finish(const Expected<void, Failure>& enqueued) const {
  auto finished = attempt(*driver_, driver_->synchronize(stream_.get()));
  return finished ? enqueued : finished;
}

Expected<double, Failure> LaunchTimer::elapsed_ns(const Span& span) const {
  float milliseconds = 0;
  const auto done =
      attempt(*driver_, driver_->elapsed_time(&milliseconds, span.begin.get(), span.end.get()));
  if (!done) return Unexpected(done.error());
  return 1e6 * static_cast<double>(milliseconds);
}

Expected<double, Failure> LaunchTimer::time_again(const StreamWork& work, Span& span) {
  constexpr int kMostFills = 128;
  do {
    // Not where another piece of the same round has raised it.
    if (span.fills >= fills_) fills_ = std::min(fills_ + fills_ / 2 + 1, kMostFills);
    if (auto done = finish(enqueue(work, span)); !done) return Unexpected(done.error());
  } while (span.is_late && fills_ < kMostFills);
  return elapsed_ns(span);
}

Expected<std::vector<double>, Failure> LaunchTimer::time(std::span<const StreamWork> works) {
  if (auto made = make_spans(works.size()); !made) return Unexpected(made.error());
  // The first runs once more before: it then finds the device busy, and its own data in no cache
  // that the host's pause could have changed.
  Expected<void, Failure> done;
  if (!works.empty()) done = works.front()(stream_.get());
  for (std::size_t i = 0; done && i < works.size(); ++i) done = enqueue(works[i], spans_[i]);
  if (auto finished = finish(done); !finished) return Unexpected(finished.error());
  // Fewer each time that they sufficed: a long wait costs a choice its time.
  if (std::ranges::none_of(std::span(spans_).first(works.size()), &Span::is_late) && fills_ > 0) {
    --fills_;
  }
  std::vector<double> times_ns;
  for (std::size_t i = 0; i < works.size(); ++i) {
    Span& span = spans_[i];
    const auto time_ns = span.is_late ? time_again(works[i], span) : elapsed_ns(span);
    if (!time_ns) return Unexpected(time_ns.error());
    times_ns.push_back(*time_ns);
  }
  return times_ns;
}

}  // namespace tuner::backend
