// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/session/fault_guard.hpp"
#include "tuner/session/pipeline.hpp"
#include "tuner/store/store.hpp"
#include "tuner/worker/compile_pool.hpp"
#include "tuner/worker/device_worker.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tuner::session {

/// A trial that is not stored yet.
struct JudgedTrial {
  store::TrialRecord trial;
  bool ran = false;  ///< on the device
};

/// A trial as it was stored.
struct CommittedTrial {
  store::TrialRecord trial;
  bool fastest = false;  ///< so far, at its size
};

/// Runs candidates on one card, one by one: each is judged, then committed. A candidate that
/// crashes or hangs gets a strike.
class TrialRunner {
 public:
  /// Seconds since the run began.
  using Clock = std::function<double()>;

  /// Where a card's trials come from and go to. All must outlive the runner; the cards of a run
  /// share them.
  struct Shared {
    const family::Kernel& kernel;
    worker::CompilePool& pool;
    store::Store& store;
    FaultGuard& guard;
    std::int64_t run;  ///< in the store
    std::uint64_t seed;
    Clock clock;
    std::function<void(const verify::Coverage&)> covered;
  };

  /// `card` tells the cards of the run apart. The device must outlive it.
  TrialRunner(Shared shared, std::size_t card, worker::DeviceWorker& device)
      : shared_(std::move(shared)), card_(card), device_(device) {}

  /// Judges a candidate whose compilation is over. Where it gets onto the device, its attempt is
  /// stored before. Throws Error when the device itself has failed.
  [[nodiscard]] JudgedTrial judge(const Pending& pending);
  /// Stores the trial of the candidate that was judged last, and the attempt of `next`, which is to
  /// be judged after it, in one transaction: a commit costs a disk write. No `next`: none is known.
  /// Throws as FaultGuard::ended does.
  [[nodiscard]] CommittedTrial commit(const Pending& pending, JudgedTrial judged,
                                      const Pending* next);
  /// Replaces the trial of a finalist, which ended `ok`, by its failure in the final round.
  [[nodiscard]] CommittedTrial record_failure(SizeSearch& search, const space::Config& config,
                                              const Failure& failure);

  /// This card has dropped out and may be what its last candidates died of: those of open searches
  /// are asked again, finalists get the result back that they had before the final round.
  void give_up();

  /// What the last trial that ended `ok` at a size says of its check; empty: nothing.
  [[nodiscard]] std::string caution(const space::Size& size) const;

  [[nodiscard]] double compile_s() const { return compile_s_; }
  [[nodiscard]] double verify_s() const { return verify_s_; }
  [[nodiscard]] double measure_s() const { return measure_s_; }

 private:
  struct Provisional {
    SizeSearch* search;
    space::Config config;
    std::optional<store::TrialRecord> before = {};  ///< of a finalist
  };

  void tell_guard(const store::TrialRecord& trial);
  [[nodiscard]] store::AttemptRecord attempt(const Pending& pending) const;
  [[nodiscard]] bool will_run(const Pending& pending) const;
  [[nodiscard]] store::TrialRecord trial_of(const Pending& pending);
  [[nodiscard]] store::TrialRecord evaluated(store::TrialRecord trial, const Pending& pending);

  Shared shared_;
  std::size_t card_;
  worker::DeviceWorker& device_;
  // The candidate that runs, after those that crashed in a row: if the device is at fault, these
  // results do not count.
  std::vector<Provisional> provisional_;
  std::map<space::Size, std::string> cautions_;
  double compile_s_ = 0, verify_s_ = 0, measure_s_ = 0;
};

}  // namespace tuner::session
