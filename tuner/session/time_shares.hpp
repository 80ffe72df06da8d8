// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <vector>

namespace tuner::session {

/// Divides the time of a search among its sizes: what is left, with what the open ones have had, in
/// equal shares. What a size that closes early leaves goes to the others; one whose trials take
/// long uses up its own share, never theirs.
class TimeShares {
 public:
  using Duration = std::chrono::duration<double>;

  /// All sizes are open. Without a total no share is ever used up.
  TimeShares(std::optional<std::chrono::milliseconds> total, std::size_t sizes)
      : total_(total), by_size_(sizes), closed_(sizes), open_(sizes) {}

  /// That so much time went into a size.
  void charge(std::size_t size, Duration time);
  /// That so much time served all of them.
  void charge_all(Duration time) { gone_ += time; }
  /// That a size needs no more.
  void close(std::size_t size);

  /// The share of its time that an open size has had, from 0 to 1; none when there is no total.
  [[nodiscard]] std::optional<double> spent(std::size_t size) const;
  [[nodiscard]] bool used_up(std::size_t size) const { return spent(size) == 1.0; }

 private:
  std::optional<Duration> total_;
  std::vector<Duration> by_size_;
  std::vector<bool> closed_;
  std::size_t open_;
  Duration gone_{};  // what closed sizes had, and what served all
};

}  // namespace tuner::session
