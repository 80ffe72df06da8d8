// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/core/outcome.hpp"
#include "tuner/store/store.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace tuner::session {

/// Keeps candidates that crash or hang from doing so for ever, and tells a sick device from bad
/// candidates. Each crash or hang is a strike against the configuration; with
/// kStrikesToQuarantine it is not run again while the kernel's hash stays.
class FaultGuard {
 public:
  /// The store must outlive it. `run` takes the strikes.
  FaultGuard(store::Store& store, const store::Subject& subject, std::int64_t run);

  [[nodiscard]] bool quarantined(const std::string& config_json) const;

  /// Takes in how a candidate that ran ended. When kDeathsInARow different configurations have
  /// crashed or hung one after the other, takes their strikes back and throws: Error(no_device)
  /// where others ran before, as the device is then likely to be sick, else Error(failure).
  void ended(const std::string& config_json, Outcome outcome, std::string_view reason);

  static constexpr std::size_t kDeathsInARow = 5;

 private:
  store::Store& store_;
  std::int64_t session_;
  std::map<std::string, int> strikes_;  // by configuration
  std::vector<std::string> in_a_row_;   // configurations, each once
  bool survived_ = false;               // some candidate ran without a crash or a hang
};

}  // namespace tuner::session
