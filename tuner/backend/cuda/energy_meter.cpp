// SPDX-License-Identifier: Apache-2.0
#include "tuner/backend/cuda/energy_meter.hpp"

#include <array>
#include <chrono>
#include <cstddef>
#include <thread>

namespace tuner::backend {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

/// A counter that has not moved for so long does not move at all.
constexpr double kStandstillSeconds = 1.0;

/// Whether a window is over: long enough, or without any step of the counter.
bool is_over(const EnergyWindow& window, double window_s, double elapsed_s) {
  return window.seconds() >= window_s || elapsed_s > window_s + kStandstillSeconds;
}

}  // namespace

void EnergyWindow::add(double joules, double seconds, std::int64_t runs) {
  const double before = before_.value_or(joules);
  before_ = joules;
  if (joules == before) return;
  last_ = {.joules = joules, .seconds = seconds, .runs = runs};
  if (!began_) first_ = last_;
  began_ = true;
}

Expected<std::optional<EnergySample>, Failure> EnergyMeter::measure(const Enqueue& chunk, int runs,
                                                                    double window_s) {
  // Until the device has reached the clock and the temperature of the load, as far as that is soon.
  constexpr double kLeadSeconds = 0.3;
  std::array<Event, 2> ended = {make_event(), make_event()};
  EnergyWindow window;
  Expected<void, Failure> done;
  std::int64_t chunks = 0;
  const auto begin = Clock::now();
  std::optional<double> joules = 0;
  // Two chunks are in flight, so that the device is never idle while the counter is read.
  while (done && joules && !is_over(window, window_s, seconds_since(begin) - kLeadSeconds)) {
    done = chunk();
    if (done)
      done = attempt(cudaEventRecord(ended[static_cast<std::size_t>(chunks % 2)].get(), stream_));
    ++chunks;
    if (!done || chunks < 2) continue;
    done = attempt(cudaEventSynchronize(ended[static_cast<std::size_t>(chunks % 2)].get()));
    const double now_s = seconds_since(begin);
    if (!done || now_s < kLeadSeconds) continue;
    joules = counter_();
    if (joules) window.add(*joules, now_s, (chunks - 1) * runs);
  }
  if (auto finished = finish(stream_); !finished) return Unexpected(finished.error());
  if (!done) return Unexpected(done.error());
  if (!joules || window.seconds() < window_s / 2 || window.runs() < 1) {
    return std::optional<EnergySample>();
  }
  return std::optional(EnergySample{.joules = window.joules() / static_cast<double>(window.runs()),
                                    .watts = window.joules() / window.seconds()});
}

std::optional<double> EnergyMeter::idle_watts() {
  constexpr auto kRest = std::chrono::milliseconds(500);
  constexpr auto kBetween = std::chrono::milliseconds(5);
  constexpr double kWindowSeconds = 1.0;
  std::this_thread::sleep_for(kRest);
  EnergyWindow window;
  const auto begin = Clock::now();
  while (!is_over(window, kWindowSeconds, seconds_since(begin))) {
    const std::optional<double> joules = counter_();
    if (!joules) return std::nullopt;
    window.add(*joules, seconds_since(begin), 0);
    std::this_thread::sleep_for(kBetween);
  }
  if (window.seconds() < kWindowSeconds / 2) return std::nullopt;
  return window.joules() / window.seconds();
}

}  // namespace tuner::backend
