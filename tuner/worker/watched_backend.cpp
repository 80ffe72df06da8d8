// SPDX-License-Identifier: Apache-2.0
#include "tuner/worker/watched_backend.hpp"

#include <chrono>

namespace tuner {

WatchedBackend::LastLaunch* WatchedBackend::on_trial(const Work& work) {
  const auto* launch = std::get_if<Launch>(&work);
  if (launch == nullptr) return nullptr;
  const auto found = on_trial_.find(launch->kernel);
  return found == on_trial_.end() ? nullptr : &found->second;
}

void WatchedBackend::announce(const Work& work, int launches) {
  const LastLaunch* last = on_trial(work);
  DeviceStep step{.size = size_, .on_trial = last != nullptr, .launches = launches, .launch_s = {}};
  // Other arguments are another problem: nothing is known of its time.
  if (last != nullptr && last->arguments == std::get<Launch>(work).arguments) {
    step.launch_s = last->launch_s;
  }
  announce_(step);
}

Expected<void, Failure> WatchedBackend::run(const Work& work) {
  announce(work, 1);
  const auto start = std::chrono::steady_clock::now();
  auto done = backend_.run(work);
  if (LastLaunch* last = on_trial(work)) {
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    *last = {.arguments = std::get<Launch>(work).arguments, .launch_s = took.count()};
  }
  return done;
}

Expected<std::vector<Sample>, Failure> WatchedBackend::time(const Work& work,
                                                            const SamplePlan& plan) {
  announce(work, plan.warm_up + plan.samples);
  return backend_.time(work, plan);
}

Expected<double, Failure> WatchedBackend::time_hot(const Work& work) {
  constexpr int kLaunches = 21;  // two series to learn from and five to time, of three runs each
  announce(work, kLaunches);
  return backend_.time_hot(work);
}

Expected<double, Failure> WatchedBackend::time_call(const Work& work) {
  announce(work, 1);
  return backend_.time_call(work);
}

}  // namespace tuner
