// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/session/final.hpp"
#include "tuner/session/observer.hpp"
#include "tuner/session/trial_runner.hpp"

#include <functional>
#include <optional>

namespace tuner::session {

/// Settles sizes, one after the other: holds the final of each, again without a contender that fell
/// out of it.
class Settlement {
 public:
  /// Told how a contender that fell out is now recorded.
  using Refuted = std::function<void(const SizeSearch&, const Fared&)>;

  /// All must outlive it.
  Settlement(const family::Family& family, const family::Kernel& kernel, worker::CompilePool& pool,
             worker::DeviceWorker& device, TrialRunner& runner, Observer& observer,
             const std::function<bool()>& interrupted)
      : final_(family, kernel, pool, device),
        runner_(runner),
        observer_(observer),
        interrupted_(interrupted) {}

  /// How the size came out: by a final, or, interrupted, as it was screened; none when no
  /// configuration is left. A library that falls out twice is left out.
  [[nodiscard]] std::optional<FinalOutcome> settle(SizeSearch& search,
                                                   const measure::FinalsPlan& plan,
                                                   const Refuted& refuted);

  /// What the finals took.
  [[nodiscard]] double measure_s() const { return measure_s_; }

 private:
  Final final_;
  TrialRunner& runner_;
  Observer& observer_;
  const std::function<bool()>& interrupted_;
  double measure_s_ = 0;
};

}  // namespace tuner::session
