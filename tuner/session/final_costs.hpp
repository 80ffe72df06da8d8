// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>

namespace tuner::session {

/// How long final rounds are expected to take on a card: so much for each contender, as those that
/// were held there took, and before the first of them a part of what timing takes in a trial.
class FinalCosts {
 public:
  using Duration = std::chrono::duration<double>;

  /// Records how long a candidate was timed in a trial.
  void add_timing(Duration time);
  /// Records how long a final round of so many contenders, the library among them, took.
  void add_final(std::size_t contenders, Duration time);

  /// Whether a final round was held.
  [[nodiscard]] bool has_final() const { return contenders_ > 0; }
  [[nodiscard]] Duration expected(std::size_t contenders) const;
  /// How many contenders are expected to take no longer than this.
  [[nodiscard]] std::size_t most_contenders(Duration time) const;

 private:
  [[nodiscard]] Duration of_one() const;

  Duration timings_time_{}, finals_time_{};
  std::size_t timings_ = 0, contenders_ = 0;
};

}  // namespace tuner::session
