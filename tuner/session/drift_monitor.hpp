// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/session/session.hpp"
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

/// Detects a slow drift of the device while candidates are screened one after the other: at
/// intervals it re-times the same work, the library or else the default configuration. Trials timed
/// between two checks that differ must be repeated.
class DriftMonitor {
 public:
  /// All must outlive it. The work is re-timed at the size of `search`.
  DriftMonitor(const family::Kernel& kernel, const SizeSearch& search, worker::CompilePool& pool,
               worker::DeviceWorker& device, store::Store& store, std::int64_t run,
               const RunClock& now)
      : kernel_(kernel),
        search_(search),
        pool_(pool),
        device_(device),
        store_(store),
        run_(run),
        now_(now) {}

  /// Whether the next check is due.
  [[nodiscard]] bool due() const { return now_() >= next_; }
  /// Adds a trial that was timed since the last check.
  void add(SizeSearch& search, const space::Config& config);

  struct Suspect {
    SizeSearch* search;
    space::Config config;
  };
  /// Re-times the work and stores the time. When it has drifted since the last check by more than
  /// the samples scatter, returns the trials that were timed in between; a trial is returned
  /// kMostSuspicions times at most.
  [[nodiscard]] std::vector<Suspect> check(double elapsed_s);

  static constexpr std::chrono::seconds kInterval{30};
  static constexpr int kMostSuspicions = 2;

 private:
  /// A few samples; empty when there is nothing to re-time.
  [[nodiscard]] std::vector<backend::Sample> retime();
  /// Whether there is work to re-time.
  [[nodiscard]] bool load_work();

  const family::Kernel& kernel_;
  const SizeSearch& search_;
  worker::CompilePool& pool_;
  worker::DeviceWorker& device_;
  store::Store& store_;
  std::int64_t run_;
  const RunClock& now_;
  std::chrono::steady_clock::time_point next_ = now_();
  std::vector<double> baseline_ns_;  // samples; empty before the first look
  std::vector<Suspect> since_;
  std::map<std::pair<const SizeSearch*, space::Config>, int> suspicions_;
};

}  // namespace tuner::session
