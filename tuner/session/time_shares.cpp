// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/time_shares.hpp"

namespace tuner::session {
namespace {

/// The part of all time that counts as charged before any was.
constexpr double kAssumedPart = 0.1;

}  // namespace

void TimeShares::open(std::size_t size) {
  if (open_[size]) return;
  open_[size] = true;
  open_weight_ += weights_[size];
}

void TimeShares::charge(std::size_t size, Duration time) {
  by_size_[size] += time;
  charged_ += time;
  (open_[size] ? of_open_ : gone_) += time;
}

void TimeShares::charge_all(Duration time) {
  gone_ += time;
  if (charged_.count() > 0) shared_ += time;
}

void TimeShares::close(std::size_t size) {
  if (!open_[size]) return;
  open_[size] = false;
  of_open_ -= by_size_[size];
  gone_ += by_size_[size];
  open_weight_ -= weights_[size];
}

std::optional<double> TimeShares::spent(std::size_t size) const {
  if (!total_) return std::nullopt;
  const Duration left = *total_ - reserved_ - gone_ - of_open_;
  // At first little is known: one wait for a compiler must not close every size.
  const Duration assumed = *total_ * kAssumedPart;
  const Duration known = charged_ + shared_;
  const double part = known.count() > 0 ? (charged_ + assumed) / (known + assumed) : 1.0;
  const Duration to_charge = left * part;
  const Duration share = (of_open_ + to_charge) * weights_[size] / (open_weight_ + yet_to_open_());
  return by_size_[size] < share ? by_size_[size] / share : 1.0;
}

}  // namespace tuner::session
