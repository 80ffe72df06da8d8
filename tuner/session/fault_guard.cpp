// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/fault_guard.hpp"

#include "tuner/core/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace tuner::session {

bool is_death(Outcome outcome) {
  return outcome == Outcome::crashed || outcome == Outcome::timeout;
}

FaultGuard::FaultGuard(store::Store& store, const store::Subject& subject, std::int64_t run,
                       std::function<std::set<std::size_t>()> cards)
    : store_(store), run_(run), cards_(std::move(cards)), strikes_(store.strikes(subject)) {}

bool FaultGuard::quarantined(std::size_t card, const std::string& config_json) const {
  const std::scoped_lock lock(mutex_);
  const auto strikes = [&](const std::map<std::string, int>& by_config) {
    const auto found = by_config.find(config_json);
    return found == by_config.end() ? 0 : found->second;
  };
  const auto row = in_a_row_.find(card);
  const int in_a_row = row == in_a_row_.end() ? 0 : strikes(row->second);
  return strikes(strikes_) + in_a_row >= store::kStrikesToQuarantine;
}

void FaultGuard::ended(std::size_t card, const std::string& config_json, Outcome outcome,
                       std::string_view reason) {
  const std::scoped_lock lock(mutex_);
  std::map<std::string, int>& in_a_row = in_a_row_[card];
  if (!is_death(outcome)) {
    for (const auto& [config, strikes] : std::exchange(in_a_row, {})) strikes_[config] += strikes;
    survived_ = true;
    return;
  }
  store_.add_strike(run_, config_json, reason);
  ++in_a_row[config_json];
  if (in_a_row.size() < kDeathsInARow) return;
  std::vector<std::string> blameless;
  for (const auto& [config, strikes] : std::exchange(in_a_row, {})) blameless.push_back(config);
  store_.withdraw_strikes(run_, blameless);
  blamed_.insert(card);
  const bool is_alone =
      std::ranges::all_of(cards_(), [&](std::size_t each) { return blamed_.contains(each); });
  const std::string_view cause =
      survived_   ? "others ran before, so the device is the likeliest cause"
      : !is_alone ? "none completed, but other devices take part"
                  : "none completed, so the cause is common to all: the kernel's code, inputs that "
                    "it cannot take, such as random numbers for an index, or the device";
  throw Error(
      survived_ || !is_alone ? ErrorCode::no_device : ErrorCode::failure,
      fmt::format(
          "{} different configurations crashed or hung one after the other; {} (the last: {}).\n  "
          "They get no strike; earlier results are saved. `tune doctor` checks the device, `tune "
          "bench` runs one configuration; the same command continues the run.",
          kDeathsInARow, cause, reason));
}

}  // namespace tuner::session
