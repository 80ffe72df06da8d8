// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/time_shares.hpp"

#include <algorithm>

namespace tuner::session {

void TimeShares::open(std::size_t size) {
  if (open_[size]) return;
  open_[size] = true;
  ++open_count_;
}

void TimeShares::charge(std::size_t size, Duration time) {
  by_size_[size] += time;
  if (!open_[size]) gone_ += time;
}

void TimeShares::close(std::size_t size) {
  if (!open_[size]) return;
  open_[size] = false;
  gone_ += by_size_[size];
  --open_count_;
}

std::optional<double> TimeShares::spent(std::size_t size) const {
  if (!total_) return std::nullopt;
  const Duration share = (*total_ - gone_) / (static_cast<double>(open_count_) + yet_to_open_());
  return by_size_[size] < share ? by_size_[size] / share : 1.0;
}

}  // namespace tuner::session
