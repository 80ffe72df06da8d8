// SPDX-License-Identifier: Apache-2.0
#include "tuner/search/response.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace tuner::search {

Response::Response(double slow_side, std::span<const std::optional<double>> times_ns)
    : slow_side_(slow_side) {
  std::vector<double> logs;
  for (const auto& time : times_ns) {
    if (time) logs.push_back(std::log(*time));
  }
  if (logs.empty()) return;
  std::ranges::sort(logs);
  median_ = logs[logs.size() / 2];
  slowest_ = logs.back();
  double sum = 0;
  double squares = 0;
  for (const auto& time : times_ns) {
    const double value = bent(time ? std::log(*time) : slowest_);
    sum += value;
    squares += value * value;
  }
  const auto count = static_cast<double>(times_ns.size());
  mean_ = sum / count;
  const double variance = squares / count - mean_ * mean_;
  constexpr double kLeast = 1e-12;  // times that hardly differ say nothing, however they are scaled
  deviation_ = variance > kLeast ? std::sqrt(variance) : 1;
}

double Response::operator()(std::optional<double> time_ns) const {
  return (bent(time_ns ? std::log(*time_ns) : slowest_) - mean_) / deviation_;
}

double Response::bent(double log_time) const {
  return log_time > median_ ? median_ + (log_time - median_) * slow_side_ : log_time;
}

}  // namespace tuner::search
