// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>

namespace tuner::session {

/// How long final rounds are expected to take on a card: so much for each contender, as those that
/// were held there took, and before the first of them a part of what a trial takes.
class FinalCosts {
 public:
  using Duration = std::chrono::duration<double>;

  void add_trial(Duration time);
  /// Records how long a final round of so many contenders, the library among them, took.
  void add_final(std::size_t contenders, Duration time);

  [[nodiscard]] Duration expected(std::size_t contenders) const;
  /// How many contenders are expected to take no longer than this.
  [[nodiscard]] std::size_t most_contenders(Duration time) const;

 private:
  [[nodiscard]] Duration of_one() const;

  Duration trials_time_{}, finals_time_{};
  std::size_t trials_ = 0, contenders_ = 0;
};

}  // namespace tuner::session
