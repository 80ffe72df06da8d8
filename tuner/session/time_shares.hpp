// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

namespace tuner::session {

/// Divides the time that a card searches among the sizes it searches: what is left, with what the
/// open ones have had, by their weights. What a size that closes early leaves goes to the others;
/// one whose trials take long uses up its own share, never theirs. Of the time left as large a part
/// is expected to serve all, in waiting for compilers, as since the first size was charged.
class TimeShares {
 public:
  using Duration = std::chrono::duration<double>;

  /// No size is open. `weights`: of each size, above 0. `yet_to_open`: the weight of the sizes that
  /// this card can expect besides, which may be a part of one where cards share them. Without a
  /// total no share is ever used up.
  TimeShares(std::optional<std::chrono::milliseconds> total, std::vector<double> weights,
             std::function<double()> yet_to_open)
      : total_(total),
        weights_(std::move(weights)),
        by_size_(weights_.size()),
        open_(weights_.size()),
        yet_to_open_(std::move(yet_to_open)) {}

  void open(std::size_t size);

  /// That so much time went into a size, which may be closed by now.
  void charge(std::size_t size, Duration time);
  /// Sets aside so much of the total for other work than the search.
  void reserve(Duration time) { reserved_ = time; }
  /// That so much time served all of them.
  void charge_all(Duration time);
  /// That a size needs no more.
  void close(std::size_t size);

  /// The share of its time that an open size has had, from 0 to 1; none when there is no total.
  [[nodiscard]] std::optional<double> spent(std::size_t size) const;
  [[nodiscard]] bool used_up(std::size_t size) const { return spent(size) == 1.0; }

 private:
  std::optional<Duration> total_;
  Duration reserved_{};
  std::vector<double> weights_;
  std::vector<Duration> by_size_;
  std::vector<bool> open_;
  double open_weight_ = 0;
  std::function<double()> yet_to_open_;
  Duration gone_{};     // what closed sizes had, and what served all
  Duration of_open_{};  // what open sizes had
  Duration charged_{};  // to sizes, open and closed
  Duration shared_{};   // what served all since a size was charged first
};

}  // namespace tuner::session
