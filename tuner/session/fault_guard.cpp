// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/fault_guard.hpp"

#include "tuner/core/error.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tuner {
namespace {

bool is_death(Outcome outcome) {
  return outcome == Outcome::crashed || outcome == Outcome::timeout;
}

}  // namespace

FaultGuard::FaultGuard(Store& store, const Subject& subject, std::int64_t session)
    : store_(store), session_(session), strikes_(store.strikes(subject)) {}

bool FaultGuard::quarantined(const std::string& config_json) const {
  const auto found = strikes_.find(config_json);
  return found != strikes_.end() && found->second >= kStrikesToQuarantine;
}

void FaultGuard::ended(const std::string& config_json, Outcome outcome, std::string_view reason) {
  if (!is_death(outcome)) {
    in_a_row_.clear();
    return;
  }
  store_.add_strike(session_, config_json, reason);
  ++strikes_[config_json];
  if (std::ranges::count(in_a_row_, config_json) == 0) in_a_row_.push_back(config_json);
  if (in_a_row_.size() < kDeathsInARow) return;
  store_.withdraw_strikes(session_, in_a_row_);
  throw Error(ErrorCode::no_device,
              fmt::format("{} different configurations crashed or hung one after the other: it is "
                          "the device, not they (the last: {}).\n  None of them is held to blame; "
                          "everything before is saved. `tune doctor` looks at the device; the same "
                          "command goes on.",
                          kDeathsInARow, reason));
}

}  // namespace tuner
