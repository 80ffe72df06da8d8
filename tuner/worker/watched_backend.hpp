// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/backend/backend.hpp"

#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tuner::worker {

/// The next step of a device: it determines the deadline, and which candidate is at fault.
struct DeviceStep {
  std::string size = {};  ///< the problem's: "67x45x33"
  bool on_trial = false;  ///< a candidate's kernel runs; else the library or a kernel of our own
  int launches = 1;
  std::optional<double> launch_s;  ///< seconds of the same launch last time, if it ran
  std::string source = {};         ///< of a kernel that runs and is not on trial: its file's name
};

/// Wraps a compiler and records the source of each binary. May be used from any thread.
class NotingCompiler : public backend::Compiler {
 public:
  /// The compiler must outlive it.
  explicit NotingCompiler(const backend::Compiler& compiler) : compiler_(compiler) {}

  [[nodiscard]] Expected<backend::Binary, Failure> compile(
      const family::CompileJob& job) const override;
  /// The file's name; empty for a binary that was compiled elsewhere.
  [[nodiscard]] std::string source_of(const backend::Binary& binary) const;

 private:
  const backend::Compiler& compiler_;
  mutable std::mutex mutex_;
  mutable std::map<std::string, std::string> sources_;  // by the hash of an image
};

/// Wraps a backend and announces each piece of work before it begins.
class WatchedBackend : public backend::Backend {
 public:
  using Announce = std::function<void(const DeviceStep&)>;

  /// The backend, and the compiler used instead of the backend's own, must outlive it.
  WatchedBackend(backend::Backend& backend, const backend::Compiler& compiler, Announce announce)
      : backend_(backend), compiler_(compiler), announce_(std::move(announce)) {}

  /// From now on work is on a problem of this size.
  void set_size(std::string size) { size_ = std::move(size); }
  /// From now on this kernel is a candidate's, until it is unloaded.
  void put_on_trial(backend::KernelId kernel) { on_trial_[kernel] = {}; }

  const space::DeviceInfo& device() const override { return backend_.device(); }
  const space::EnvironmentInfo& environment() const override { return backend_.environment(); }
  const backend::Compiler& compiler() const override { return compiler_; }
  backend::BufferId allocate(std::size_t size_bytes) override {
    return backend_.allocate(size_bytes);
  }
  backend::PinnedBuffer allocate_pinned(std::size_t size_bytes) override {
    return backend_.allocate_pinned(size_bytes);
  }
  void release(backend::BufferId buffer) override { backend_.release(buffer); }
  void write(backend::Region to, std::span<const std::byte> data) override {
    backend_.write(to, data);
  }
  void read(backend::Region from, std::span<std::byte> data) const override {
    backend_.read(from, data);
  }
  void fill(backend::Region region, std::uint32_t pattern, std::size_t size_bytes) override {
    backend_.fill(region, pattern, size_bytes);
  }
  void copy(backend::Region to, backend::Region from, std::size_t size_bytes) override {
    backend_.copy(to, from, size_bytes);
  }
  Expected<backend::KernelId, Failure> load(const backend::Binary& binary) override;
  void unload(backend::KernelId kernel) override {
    on_trial_.erase(kernel);
    sources_.erase(kernel);
    backend_.unload(kernel);
  }
  std::vector<backend::Resources> resources(backend::KernelId kernel) const override {
    return backend_.resources(kernel);
  }
  bool has_changed_variables(backend::KernelId kernel) const override {
    return backend_.has_changed_variables(kernel);
  }

  Expected<void, Failure> run(const backend::Work& work) override;
  Expected<std::vector<backend::Sample>, Failure> time(const backend::Work& work,
                                                       const backend::SamplePlan& plan) override;
  Expected<double, Failure> time_hot(const backend::Work& work) override;
  Expected<backend::SeriesTime, Failure> time_series(std::span<const backend::Work> works,
                                                     backend::Lead lead) override;
  Expected<std::optional<backend::RegimeTimes>, Failure> time_regimes(
      std::span<const backend::Work> works) override;
  Expected<std::optional<backend::EnergySample>, Failure> measure_energy(const backend::Work& work,
                                                                         double window_s) override;
  std::optional<double> idle_watts() override { return backend_.idle_watts(); }
  Expected<double, Failure> time_call(const backend::Work& work) override;
  Expected<counters::CounterReading, Failure> count(
      const backend::Work& work, const std::optional<backend::Work>& before) override;
  std::vector<std::string> library_algorithms(const backend::LibraryCall& call) override {
    return backend_.library_algorithms(call);
  }
  backend::Conditions conditions() override { return backend_.conditions(); }
  std::optional<backend::Peak> peak(family::ElementType type) const override {
    return backend_.peak(type);
  }

 private:
  /// The last launch of a kernel on trial, by its steps.
  struct LastLaunch {
    std::vector<backend::StepLaunch> steps;
    std::optional<double> launch_s;
  };
  /// The record of the kernel on trial that `work` launches; null for other work.
  [[nodiscard]] LastLaunch* on_trial(const backend::Work& work);
  /// `all_s`: what the launches take together at the least, whatever one of them takes.
  void announce(const backend::Work& work, int launches, double all_s = 0);

  backend::Backend& backend_;
  NotingCompiler compiler_;
  Announce announce_;
  std::string size_;
  std::map<backend::KernelId, LastLaunch> on_trial_;
  std::map<backend::KernelId, std::string> sources_;  // of what was compiled here
};

}  // namespace tuner::worker
