// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/session/size_search.hpp"
#include "tuner/store/store.hpp"
#include "tuner/worker/compile_pool.hpp"
#include "tuner/worker/device_worker.hpp"

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace tuner::session {

/// Watches whether the device itself drifts while candidates are screened one after the other: now
/// and then it re-times the same piece of work, the library or else the default configuration.
/// Trials since the last time it was as before are not to be trusted once it is not.
class Canary {
 public:
  using Clock = std::chrono::steady_clock;

  /// All must outlive it. The work is re-timed at the size of `search`.
  Canary(const family::Kernel& kernel, const SizeSearch& search, worker::CompilePool& pool,
         worker::DeviceWorker& device, store::Store& store, std::int64_t session)
      : kernel_(kernel),
        search_(search),
        pool_(pool),
        device_(device),
        store_(store),
        session_(session) {}

  /// Whether it is time to look again.
  [[nodiscard]] bool due() const { return Clock::now() >= next_; }
  /// A trial that was timed since the last look.
  void watch(SizeSearch& search, const space::Config& config);

  struct Suspect {
    SizeSearch* search;
    space::Config config;
  };
  /// Looks: re-times the work and records it. Returns the trials that were timed since the last
  /// look when the time has drifted since then, by more than the samples scatter; a trial is
  /// suspected kMostSuspicions times at most.
  [[nodiscard]] std::vector<Suspect> look(double elapsed_s);

  static constexpr std::chrono::seconds kInterval{30};
  static constexpr int kMostSuspicions = 2;

 private:
  /// A few samples; empty when there is nothing to re-time.
  [[nodiscard]] std::vector<backend::Sample> retime();
  [[nodiscard]] bool line_up();

  const family::Kernel& kernel_;
  const SizeSearch& search_;
  worker::CompilePool& pool_;
  worker::DeviceWorker& device_;
  store::Store& store_;
  std::int64_t session_;
  Clock::time_point next_ = Clock::now();
  std::vector<double> baseline_ns_;  // samples; empty before the first look
  std::vector<Suspect> since_;
  std::map<std::pair<const SizeSearch*, space::Config>, int> suspicions_;
};

}  // namespace tuner::session
