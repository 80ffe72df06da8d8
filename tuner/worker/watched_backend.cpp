// SPDX-License-Identifier: Apache-2.0
#include "tuner/worker/watched_backend.hpp"

#include "tuner/core/hash.hpp"

#include <algorithm>
#include <chrono>
#include <string_view>

namespace tuner::worker {
namespace {

/// Launches of a series, or of so many that take as long as a few on a device: two series to learn
/// from and five to time, of three runs each.
constexpr int kSeriesLaunches = 21;

/// Of a launch whose writes beside guard zones are followed one by one: the cpu backend follows
/// 100,000 of them, each for up to a tenth of a millisecond.
constexpr double kFollowed_s = 6;

std::string image_hash(const backend::Binary& binary) {
  return content_hash(
      {std::string_view(reinterpret_cast<const char*>(binary.image.data()), binary.image.size())});
}

}  // namespace

Expected<backend::Binary, Failure> NotingCompiler::compile(const family::CompileJob& job) const {
  auto binary = compiler_.compile(job);
  if (!binary) return binary;
  std::string hash = image_hash(*binary);
  const std::lock_guard lock(mutex_);
  sources_.insert_or_assign(std::move(hash), job.source.name);
  return binary;
}

std::string NotingCompiler::source_of(const backend::Binary& binary) const {
  const std::string hash = image_hash(binary);
  const std::lock_guard lock(mutex_);
  const auto found = sources_.find(hash);
  return found == sources_.end() ? "" : found->second;
}

Expected<backend::KernelId, Failure> WatchedBackend::load(const backend::Binary& binary) {
  auto kernel = backend_.load(binary);
  if (kernel) sources_.insert_or_assign(*kernel, compiler_.source_of(binary));
  return kernel;
}

WatchedBackend::LastLaunch* WatchedBackend::on_trial(const backend::Work& work) {
  const auto* launch = std::get_if<backend::Launch>(&work);
  if (launch == nullptr) return nullptr;
  const auto found = on_trial_.find(launch->kernel);
  return found == on_trial_.end() ? nullptr : &found->second;
}

void WatchedBackend::announce(const backend::Work& work, int launches, double all_s) {
  const LastLaunch* last = on_trial(work);
  DeviceStep step{.size = size_, .on_trial = last != nullptr, .launches = launches, .launch_s = {}};
  // Other arguments are another problem: nothing is known of its time.
  if (last != nullptr && last->steps == std::get<backend::Launch>(work).steps) {
    step.launch_s = last->launch_s;
  }
  if (all_s > 0) step.launch_s = std::max(step.launch_s.value_or(0), all_s / launches);
  if (const auto* launch = std::get_if<backend::Launch>(&work);
      launch != nullptr && last == nullptr) {
    const auto source = sources_.find(launch->kernel);
    if (source != sources_.end()) step.source = source->second;
  }
  announce_(step);
}

Expected<void, Failure> WatchedBackend::run(const backend::Work& work) {
  const auto* const launch = std::get_if<backend::Launch>(&work);
  announce(work, 1, launch != nullptr && launch->faults_on_write ? kFollowed_s : 0);
  const auto start = std::chrono::steady_clock::now();
  auto done = backend_.run(work);
  if (LastLaunch* last = on_trial(work)) {
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    *last = {.steps = std::get<backend::Launch>(work).steps, .launch_s = took.count()};
  }
  return done;
}

Expected<std::vector<backend::Sample>, Failure> WatchedBackend::time(
    const backend::Work& work, const backend::SamplePlan& plan) {
  announce(work, plan.warm_up + plan.samples);
  return backend_.time(work, plan);
}

Expected<double, Failure> WatchedBackend::time_hot(const backend::Work& work) {
  announce(work, kSeriesLaunches);
  return backend_.time_hot(work);
}

// All pieces of work run once before the series.
Expected<backend::SeriesTime, Failure> WatchedBackend::time_series(
    std::span<const backend::Work> works, backend::Lead lead) {
  announce(works.front(), kSeriesLaunches + static_cast<int>(works.size()));
  return backend_.time_series(works, lead);
}

Expected<std::optional<backend::RegimeTimes>, Failure> WatchedBackend::time_regimes(
    std::span<const backend::Work> works) {
  announce(works.front(), kSeriesLaunches + static_cast<int>(works.size()));
  return backend_.time_regimes(works);
}

Expected<std::optional<backend::EnergySample>, Failure> WatchedBackend::measure_energy(
    const backend::Work& work, double window_s) {
  // The lead, the window, and the time until the energy counter is known to stand still.
  constexpr double kBeside_s = 2;
  announce(work, kSeriesLaunches, window_s + kBeside_s);
  return backend_.measure_energy(work, window_s);
}

Expected<double, Failure> WatchedBackend::time_call(const backend::Work& work) {
  announce(work, 1);
  return backend_.time_call(work);
}

Expected<counters::CounterReading, Failure> WatchedBackend::count(
    const backend::Work& work, const std::optional<backend::Work>& before) {
  // A launch on its own, and one for each pass.
  announce(work, 1 + static_cast<int>(counters::kMostPasses));
  return backend_.count(work, before);
}

}  // namespace tuner::worker
