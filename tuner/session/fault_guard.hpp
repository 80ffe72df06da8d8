// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/core/outcome.hpp"
#include "tuner/store/store.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <string_view>

namespace tuner::session {

/// Whether a candidate that ended so took its process along, or had to be killed with it.
[[nodiscard]] bool is_death(Outcome outcome);

/// Limits how often a candidate crashes or hangs, and distinguishes a faulty device from faulty
/// candidates. Each crash or hang is a strike against the configuration; with
/// kStrikesToQuarantine it is not run again while the kernel's hash stays. May be used from any
/// thread: the cards of a run share one.
class FaultGuard {
 public:
  /// The store must outlive it. `run` takes the strikes. `cards`: those that take part; one that
  /// `ended` threw for counts no more, though it may still be among them.
  FaultGuard(store::Store& store, const store::Subject& subject, std::int64_t run,
             std::function<std::set<std::size_t>()> cards);

  /// Whether a card must not run a configuration. Consecutive crashes on another card count once a
  /// candidate has succeeded there: until then that card may be faulty.
  [[nodiscard]] bool quarantined(std::size_t card, const std::string& config_json) const;

  /// Records the outcome of a candidate that ran on a card. When kDeathsInARow different
  /// configurations have crashed or hung one after the other on this card, removes their strikes
  /// and throws: Error(no_device) if others ran before, on any card, as the device is then likely
  /// to be faulty, or if other cards can show whether it is, else Error(failure).
  void ended(std::size_t card, const std::string& config_json, Outcome outcome,
             std::string_view reason);

  static constexpr std::size_t kDeathsInARow = 5;

 private:
  store::Store& store_;
  std::int64_t run_;
  std::function<std::set<std::size_t>()> cards_;
  mutable std::mutex mutex_;
  std::map<std::string, int> strikes_;                          // by configuration
  std::map<std::size_t, std::map<std::string, int>> in_a_row_;  // by card, not among strikes_
  std::set<std::size_t> blamed_;                                // cards
  bool survived_ = false;  // some candidate ran without a crash or a hang
};

}  // namespace tuner::session
