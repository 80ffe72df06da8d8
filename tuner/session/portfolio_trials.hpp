// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/session/fault_guard.hpp"
#include "tuner/session/portfolio_times.hpp"
#include "tuner/worker/compile_pool.hpp"

#include <chrono>
#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>

namespace tuner::session {

/// Runs the trials of one kernel for a portfolio and stores them in a run of their own, which
/// begins by `begin` or with the first trial that the database does not have. All arguments must
/// outlive this.
class PortfolioTrials {
 public:
  PortfolioTrials(const family::Family& family, const family::Kernel& kernel,
                  const PortfolioPlan& plan, worker::DeviceWorker& device,
                  worker::CompilePool& pool, store::Store& store);

  /// Trials that were run, not known.
  [[nodiscard]] std::size_t count() const { return count_; }

  [[nodiscard]] space::BoundDefinition space_at(const space::Size& size) const {
    return {kernel_.space, device_.device().attributes, size};
  }

  /// The trials of the database and of this at a size, by canonical configuration.
  [[nodiscard]] const std::map<std::string, store::TrialRecord>& known(const space::Size& size);

  /// Compiles in the background; nothing where the database has a trial of the configuration, or
  /// the trial will say why it cannot be compiled.
  std::shared_future<worker::Compiled> compile_ahead(const space::Size& size,
                                                     const space::Config& config);

  /// The known trial, or else a configuration that is valid at the size is verified and timed.
  [[nodiscard]] store::TrialRecord trial(const space::Size& size, const space::Config& config,
                                         std::optional<double> best_ns);

  /// Stores the run, with or without trials.
  void begin();

  /// Ends the run if it has begun.
  void end(store::RunState state);

 private:
  [[nodiscard]] store::TrialRecord judged(const space::Size& size, const space::Config& config,
                                          const std::string& json, std::optional<double> best_ns);

  const family::Kernel& kernel_;
  const PortfolioPlan& plan_;
  worker::DeviceWorker& device_;
  worker::CompilePool& pool_;
  store::Store& store_;
  store::Subject subject_;
  std::chrono::steady_clock::time_point began_;
  std::map<std::string, std::map<std::string, store::TrialRecord>> known_;  // by size
  std::int64_t run_ = 0;
  std::unique_ptr<FaultGuard> guard_;  // while the run is open
  std::size_t count_ = 0;
};

}  // namespace tuner::session
