// SPDX-License-Identifier: Apache-2.0
// A device that does nothing but take the time it is told to take: for tests of what drives a
// device.
#pragma once

#include "tuner/backend/backend.hpp"

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tuner::testing_support {

/// Times come from `time_of`; every other operation succeeds at once and is counted.
class ScriptedBackend : public backend::Backend, private backend::Compiler {
 public:
  /// What becomes of a piece of work: nanoseconds of one run, or a failure.
  using Script = std::function<Expected<double, Failure>(const backend::Work&)>;

  explicit ScriptedBackend(Script script) : script_(std::move(script)) {
    device_.backend = "cpu";
    device_.name = "Scripted device";
    device_.attributes.warp_size = 32;
    device_.attributes.max_threads_per_block = 1024;
    device_.attributes.memory_bytes = 1 << 30;
  }

  const space::DeviceInfo& device() const override { return device_; }
  void set_device_name(std::string name) { device_.name = std::move(name); }
  void set_l2_bytes(std::int64_t bytes) { device_.attributes.l2_bytes = bytes; }
  const space::EnvironmentInfo& environment() const override { return environment_; }
  const backend::Compiler& compiler() const override { return *this; }
  Expected<backend::Binary, Failure> compile(const family::CompileJob& job) const override {
    return backend::Binary{.image = {}, .symbols = job.entries};
  }

  backend::BufferId allocate(std::size_t) override { return backend::BufferId{++last_id_}; }
  backend::PinnedBuffer allocate_pinned(std::size_t size_bytes) override {
    const backend::BufferId id{++last_id_};
    pinned_[id].resize(size_bytes);
    return {.id = id, .bytes = pinned_[id]};
  }
  void release(backend::BufferId buffer) override { pinned_.erase(buffer); }
  void write(backend::Region, std::span<const std::byte>) override {}
  void read(backend::Region, std::span<std::byte>) const override {}
  void fill(backend::Region, std::uint32_t, std::size_t) override {}
  void copy(backend::Region, backend::Region, std::size_t) override {}
  Expected<backend::KernelId, Failure> load(const backend::Binary& binary) override {
    const backend::KernelId id{++last_id_};
    if (!binary.symbols.empty()) symbols_[id] = binary.symbols.front();
    return id;
  }
  void unload(backend::KernelId) override {}
  std::vector<backend::Resources> resources(backend::KernelId) const override { return {}; }
  bool has_changed_variables(backend::KernelId) const override { return false; }

  Expected<void, Failure> run(const backend::Work& work) override {
    ++runs;
    auto time = script_(work);
    if (!time) return Unexpected(std::move(time.error()));
    return {};
  }
  /// Warm after the runs that the plan asks for at the least.
  Expected<std::vector<backend::Sample>, Failure> time(const backend::Work& work,
                                                       const backend::SamplePlan& plan) override {
    if (!plan.before) ++unprepared_timings;
    for (int i = 0; i < plan.warm_up; ++i) {
      if (auto warm = timed_run(work); !warm) return Unexpected(warm.error());
    }
    std::vector<backend::Sample> samples;
    for (int i = 0; i < plan.samples; ++i) {
      const auto time_ns = timed_run(work);
      if (!time_ns) return Unexpected(time_ns.error());
      samples.push_back({.time_ns = *time_ns, .clock_mhz = clock ? clock() : std::nullopt});
    }
    return samples;
  }
  /// What the script says of a cold run times `hot_share`.
  Expected<double, Failure> time_hot(const backend::Work& work) override {
    ++hot_timings;
    auto time_ns = timed_run(work);
    if (time_ns) *time_ns *= hot_share;
    return time_ns;
  }
  /// What the script says of a cold run times what `series_share_of` says.
  Expected<backend::SeriesTime, Failure> time_series(std::span<const backend::Work> works,
                                                     backend::Lead lead) override {
    (lead == backend::Lead::load ? loaded_series : series) += 1;
    copies = works.size();
    auto time_ns = timed_run(works.front());
    if (!time_ns) return Unexpected(time_ns.error());
    if (series_share_of) *time_ns *= series_share_of(works.front());
    return backend::SeriesTime{.time_ns = *time_ns,
                               .runs = static_cast<std::int64_t>(works.size())};
  }
  /// Sustained, what the script says of a cold run; rested, that times `rested_share`.
  Expected<std::optional<backend::RegimeTimes>, Failure> time_regimes(
      std::span<const backend::Work> works) override {
    copies = works.size();
    const auto time_ns = timed_run(works.front());
    if (!time_ns) return Unexpected(time_ns.error());
    return std::optional(
        backend::RegimeTimes{.rested_ns = *time_ns * rested_share, .sustained_ns = *time_ns});
  }
  /// At so many watts for as long as the script says; nothing without `watts_of`.
  Expected<std::optional<backend::EnergySample>, Failure> measure_energy(const backend::Work& work,
                                                                         double) override {
    const auto time_ns = timed_run(work);
    if (!time_ns) return Unexpected(time_ns.error());
    ++energy_windows;
    if (!watts_of) return std::optional<backend::EnergySample>();
    const double watts = watts_of(work);
    return std::optional(backend::EnergySample{.joules = watts * *time_ns * 1e-9, .watts = watts});
  }
  std::optional<double> idle_watts() override {
    return watts_of ? std::optional(50.0) : std::nullopt;
  }
  Expected<double, Failure> time_call(const backend::Work& work) override {
    return timed_run(work);
  }
  Expected<counters::CounterReading, Failure> count(const backend::Work& work,
                                                    const std::optional<backend::Work>&) override {
    const auto time_ns = timed_run(work);
    if (!time_ns) return Unexpected(time_ns.error());
    return reading_of ? reading_of(*time_ns) : counters::CounterReading{};
  }
  std::vector<std::string> library_algorithms(const backend::LibraryCall&) override {
    return algorithms;
  }
  backend::Conditions conditions() override { return now; }
  std::optional<backend::Peak> peak(family::ElementType) const override { return limit; }

  /// The first entry that a loaded kernel was compiled from; empty for one never loaded.
  std::string symbol(backend::KernelId kernel) const {
    const auto found = symbols_.find(kernel);
    return found == symbols_.end() ? "" : found->second;
  }

  int runs = 0;                                  ///< of both kinds
  int hot_timings = 0;                           ///< calls of time_hot
  int unprepared_timings = 0;                    ///< calls of time with no work before a run
  std::function<std::optional<double>()> clock;  ///< if set, asked for every sample: MHz
  /// If set, asked for the counters of every counted run by the time that the script says of it.
  std::function<counters::CounterReading(double time_ns)> reading_of;
  std::function<double(const backend::Work&)> watts_of;         ///< if set, it tells its energy
  std::function<double(const backend::Work&)> series_share_of;  ///< if set, of a run's cold time
  int series = 0, loaded_series = 0;                            ///< calls of time_series
  std::size_t copies = 0;  ///< that the last series or regimes went through
  int energy_windows = 0;  ///< calls of measure_energy
  backend::Conditions now;
  std::vector<std::string> algorithms;  ///< that its library offers
  double rested_share = 0.5, hot_share = 0.1;
  std::optional<backend::Peak> limit;

 private:
  Expected<double, Failure> timed_run(const backend::Work& work) {
    ++runs;
    return script_(work);
  }

  Script script_;
  std::map<backend::KernelId, std::string> symbols_;
  std::map<backend::BufferId, std::vector<std::byte>> pinned_;
  space::DeviceInfo device_;
  space::EnvironmentInfo environment_;
  std::uint64_t last_id_ = 0;
};

/// Work that a script can tell apart by its number.
inline backend::Work work_number(std::uint64_t number) {
  return backend::Launch{.kernel = backend::KernelId{number},
                         .steps = {{.geometry = {}, .arguments = {}}}};
}
inline std::uint64_t number_of(const backend::Work& work) {
  return static_cast<std::uint64_t>(std::get<backend::Launch>(work).kernel);
}

}  // namespace tuner::testing_support
