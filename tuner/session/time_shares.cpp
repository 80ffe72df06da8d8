// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/time_shares.hpp"

#include <algorithm>

namespace tuner::session {

void TimeShares::charge(std::size_t size, Duration time) {
  by_size_[size] += time;
  if (closed_[size]) gone_ += time;
}

void TimeShares::close(std::size_t size) {
  if (closed_[size]) return;
  closed_[size] = true;
  gone_ += by_size_[size];
  --open_;
}

std::optional<double> TimeShares::spent(std::size_t size) const {
  if (!total_) return std::nullopt;
  const Duration share = (*total_ - gone_) / static_cast<double>(open_);
  return by_size_[size] < share ? by_size_[size] / share : 1.0;
}

}  // namespace tuner::session
