// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/fault_guard.hpp"

#include "tuner/core/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace tuner::session {
namespace {

bool is_death(Outcome outcome) {
  return outcome == Outcome::crashed || outcome == Outcome::timeout;
}

}  // namespace

FaultGuard::FaultGuard(store::Store& store, const store::Subject& subject, std::int64_t run)
    : store_(store), session_(run), strikes_(store.strikes(subject)) {}

bool FaultGuard::quarantined(const std::string& config_json) const {
  const auto found = strikes_.find(config_json);
  return found != strikes_.end() && found->second >= store::kStrikesToQuarantine;
}

void FaultGuard::ended(const std::string& config_json, Outcome outcome, std::string_view reason) {
  if (!is_death(outcome)) {
    in_a_row_.clear();
    survived_ = true;
    return;
  }
  store_.add_strike(session_, config_json, reason);
  ++strikes_[config_json];
  if (std::ranges::count(in_a_row_, config_json) == 0) in_a_row_.push_back(config_json);
  if (in_a_row_.size() < kDeathsInARow) return;
  store_.withdraw_strikes(session_, in_a_row_);
  const std::string_view cause =
      survived_ ? "others ran before, so the device is the likeliest cause"
                : "none completed, so the cause is common to all: the kernel's code, inputs that "
                  "it cannot take, such as random numbers for an index, or the device";
  throw Error(
      survived_ ? ErrorCode::no_device : ErrorCode::failure,
      fmt::format(
          "{} different configurations crashed or hung one after the other; {} (the last: {}).\n  "
          "They get no strike; earlier results are saved. `tune doctor` checks the device, `tune "
          "bench` runs one configuration; the same command continues the run.",
          kDeathsInARow, cause, reason));
}

}  // namespace tuner::session
