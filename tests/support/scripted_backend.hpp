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
class ScriptedBackend : public Backend, private Compiler {
 public:
  /// What becomes of a piece of work: nanoseconds of one run, or a failure.
  using Script = std::function<Expected<double, Failure>(const Work&)>;

  explicit ScriptedBackend(Script script) : script_(std::move(script)) {
    device_.backend = "cpu";
    device_.name = "Scripted device";
    device_.attributes.warp_size = 32;
    device_.attributes.max_threads_per_block = 1024;
    device_.attributes.memory_bytes = 1 << 30;
  }

  const DeviceInfo& device() const override { return device_; }
  const EnvironmentInfo& environment() const override { return environment_; }
  const Compiler& compiler() const override { return *this; }
  Expected<Binary, Failure> compile(const CompileJob& job) const override {
    return Binary{.image = {}, .symbols = job.entries};
  }

  BufferId allocate(std::size_t) override { return BufferId{++last_id_}; }
  PinnedBuffer allocate_pinned(std::size_t size_bytes) override {
    const BufferId id{++last_id_};
    pinned_[id].resize(size_bytes);
    return {.id = id, .bytes = pinned_[id]};
  }
  void release(BufferId buffer) override { pinned_.erase(buffer); }
  void write(Region, std::span<const std::byte>) override {}
  void read(Region, std::span<std::byte>) const override {}
  void fill(Region, std::uint32_t, std::size_t) override {}
  void copy(Region, Region, std::size_t) override {}
  Expected<KernelId, Failure> load(const Binary& binary) override {
    const KernelId id{++last_id_};
    if (!binary.symbols.empty()) symbols_[id] = binary.symbols.front();
    return id;
  }
  void unload(KernelId) override {}
  std::vector<Resources> resources(KernelId) const override { return {}; }

  Expected<void, Failure> run(const Work& work) override {
    ++runs;
    auto time = script_(work);
    if (!time) return Unexpected(std::move(time.error()));
    return {};
  }
  /// Warm after the runs that the plan asks for at the least.
  Expected<std::vector<Sample>, Failure> time(const Work& work, const SamplePlan& plan) override {
    for (int i = 0; i < plan.warm_up; ++i) {
      if (auto warm = timed_run(work); !warm) return Unexpected(warm.error());
    }
    std::vector<Sample> samples;
    for (int i = 0; i < plan.samples; ++i) {
      const auto time_ns = timed_run(work);
      if (!time_ns) return Unexpected(time_ns.error());
      samples.push_back({.time_ns = *time_ns, .clock_mhz = clock ? clock() : std::nullopt});
    }
    return samples;
  }
  /// A tenth of what the script says of a cold run.
  Expected<double, Failure> time_hot(const Work& work) override {
    ++hot_timings;
    auto time_ns = timed_run(work);
    if (time_ns) *time_ns /= 10;
    return time_ns;
  }
  Expected<double, Failure> time_call(const Work& work) override { return timed_run(work); }
  Conditions conditions() override { return now; }
  std::optional<Peak> peak(ElementType) const override { return limit; }

  /// The first entry that a loaded kernel was compiled from; empty for one never loaded.
  std::string symbol(KernelId kernel) const {
    const auto found = symbols_.find(kernel);
    return found == symbols_.end() ? "" : found->second;
  }

  int runs = 0;                                  ///< of both kinds
  int hot_timings = 0;                           ///< calls of time_hot
  std::function<std::optional<double>()> clock;  ///< if set, asked for every sample: MHz
  Conditions now;
  std::optional<Peak> limit;

 private:
  Expected<double, Failure> timed_run(const Work& work) {
    ++runs;
    return script_(work);
  }

  Script script_;
  std::map<KernelId, std::string> symbols_;
  std::map<BufferId, std::vector<std::byte>> pinned_;
  DeviceInfo device_;
  EnvironmentInfo environment_;
  std::uint64_t last_id_ = 0;
};

/// Work that a script can tell apart by its number.
inline Work work_number(std::uint64_t number) {
  return Launch{.kernel = KernelId{number}, .steps = {{.geometry = {}, .arguments = {}}}};
}
inline std::uint64_t number_of(const Work& work) {
  return static_cast<std::uint64_t>(std::get<Launch>(work).kernel);
}

}  // namespace tuner::testing_support
