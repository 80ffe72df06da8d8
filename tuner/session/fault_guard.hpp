// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/core/outcome.hpp"
#include "tuner/store/store.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

namespace tuner::session {

/// Whether a candidate that ended so took its process along, or had to be killed with it.
[[nodiscard]] bool is_death(Outcome outcome);

/// Keeps candidates that crash or hang from doing so for ever, and tells a sick device from bad
/// candidates. Each crash or hang is a strike against the configuration; with
/// kStrikesToQuarantine it is not run again while the kernel's hash stays. May be used from any
/// thread: the cards of a run share one.
class FaultGuard {
 public:
  /// The store must outlive it. `run` takes the strikes.
  FaultGuard(store::Store& store, const store::Subject& subject, std::int64_t run);

  /// Whether a card is not to run a configuration. What died in a row on another card counts once
  /// something has survived there: until then that card may be sick.
  [[nodiscard]] bool quarantined(std::size_t card, const std::string& config_json) const;

  /// Takes in how a candidate that ran on a card ended. When kDeathsInARow different configurations
  /// have crashed or hung one after the other on this card, takes their strikes back and throws:
  /// Error(no_device) where others ran before, on any card, as the device is then likely to be
  /// sick, else Error(failure).
  void ended(std::size_t card, const std::string& config_json, Outcome outcome,
             std::string_view reason);

  static constexpr std::size_t kDeathsInARow = 5;

 private:
  store::Store& store_;
  std::int64_t run_;
  mutable std::mutex mutex_;
  std::map<std::string, int> strikes_;                          // by configuration
  std::map<std::size_t, std::map<std::string, int>> in_a_row_;  // by card, not among strikes_
  bool survived_ = false;  // some candidate ran without a crash or a hang
};

}  // namespace tuner::session
