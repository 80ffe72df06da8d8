// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/session/fault_guard.hpp"
#include "tuner/session/pipeline.hpp"
#include "tuner/store/store.hpp"
#include "tuner/worker/device_worker.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>

namespace tuner::session {

/// A trial as it was stored.
struct CommittedTrial {
  store::TrialRecord trial;
  bool fastest = false;  ///< so far, at its size
};

/// Runs candidates on the device, one by one, and stores each trial, with a strike against a
/// candidate that crashes or hangs.
class TrialRunner {
 public:
  /// What comes after a candidate that has just been judged; none when that is not known.
  using Following = std::function<const Pending*(const store::TrialRecord&)>;
  /// Seconds since the run began.
  using Clock = std::function<double()>;

  /// All must outlive it.
  TrialRunner(const family::Kernel& kernel, worker::DeviceWorker& device, store::Store& store,
              const store::Subject& subject, std::int64_t run, std::uint64_t seed, Clock clock)
      : kernel_(kernel),
        device_(device),
        store_(store),
        run_(run),
        seed_(seed),
        clock_(std::move(clock)),
        guard_(store, subject, run) {}

  /// Judges a candidate whose compilation is over and records the trial. Throws Error when the
  /// device itself has failed.
  [[nodiscard]] CommittedTrial run(const Pending& pending, const Following& following);
  /// Replaces the trial of a finalist, which ended `ok`, by its failure in the final round.
  [[nodiscard]] CommittedTrial record_failure(SizeSearch& search, const space::Config& config,
                                              const Failure& failure);

  /// What the last trial that ended `ok` at a size says of its check; empty: nothing.
  [[nodiscard]] std::string caution(const space::Size& size) const;

  [[nodiscard]] double compile_s() const { return compile_s_; }
  [[nodiscard]] double verify_s() const { return verify_s_; }
  [[nodiscard]] double measure_s() const { return measure_s_; }

 private:
  [[nodiscard]] store::AttemptRecord attempt(const Pending& pending) const;
  [[nodiscard]] bool will_run(const Pending& pending) const;
  [[nodiscard]] store::TrialRecord judged(const Pending& pending);
  [[nodiscard]] store::TrialRecord evaluated(store::TrialRecord trial, const Pending& pending);
  [[nodiscard]] bool record(SizeSearch& search, const space::Config& config,
                            const store::TrialRecord& trial, const Following& following);

  const family::Kernel& kernel_;
  worker::DeviceWorker& device_;
  store::Store& store_;
  std::int64_t run_;
  std::uint64_t seed_;
  Clock clock_;
  FaultGuard guard_;
  std::set<std::string> counted_compilations_;  // by compile key
  std::map<space::Size, std::string> cautions_;
  double compile_s_ = 0, verify_s_ = 0, measure_s_ = 0;
};

}  // namespace tuner::session
