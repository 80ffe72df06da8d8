// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>

namespace tuner::search {

/// How a time becomes the value that a surrogate learns: its logarithm, standardised, where
/// whatever is slower than the median differs from it by only `slow_side` as much, since the fast
/// end has to be known best. A failure counts as the slowest success.
class Response {
 public:
  /// What these times in nanoseconds, none of a failure, make typical. Without any: nothing.
  Response(double slow_side, std::span<const std::optional<double>> times_ns);

  [[nodiscard]] double operator()(std::optional<double> time_ns) const;

 private:
  [[nodiscard]] double bent(double log_time) const;

  double slow_side_;
  double median_ = 0;  // logarithms of times
  double slowest_ = 0;
  double mean_ = 0;  // of what is bent
  double deviation_ = 1;
};

}  // namespace tuner::search
