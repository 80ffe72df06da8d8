// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/backend/backend.hpp"
#include "tuner/measure/statistics.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace tuner {

/// How a final is run.
struct FinalsPlan {
  int rounds = 30;                           ///< at most
  int fewest_rounds = 6;                     ///< even when time is up: an interval needs them
  std::chrono::milliseconds budget{15'000};  ///< after which no further round begins
  std::uint64_t seed = 0;                    ///< of the order within the rounds
};

/// Times contenders side by side: in every round each once, in an order shuffled anew, so that
/// drift of the device's clock and temperature falls on all alike. Returns for every contender its
/// nanoseconds by round, all of the same length. `stop` is asked between rounds. Fails as
/// Backend::time does.
[[nodiscard]] Expected<std::vector<std::vector<double>>, Failure> run_finals(
    Backend& backend, std::span<const Work> contenders, const FinalsPlan& plan,
    const std::function<bool()>& stop);

/// A contender's standing beside another: the median of its times over the other's, round by round.
[[nodiscard]] MedianInterval standing(std::span<const double> samples_ns,
                                      std::span<const double> other_ns);

}  // namespace tuner
