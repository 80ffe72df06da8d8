// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace tuner::session {

/// How long something takes at each size; absent where it was not timed.
struct SweepCurve {
  std::string name;
  std::vector<std::optional<double>> times_ns;
};

/// A stretch of sizes at all of which the same one of two is the faster.
struct Lead {
  std::string faster;
  std::size_t first = 0, last = 0;  ///< among the sizes
  bool operator==(const Lead&) const = default;
};

/// Who leads where, in order: between two stretches lies a crossover. Sizes at which not both were
/// timed belong to none.
[[nodiscard]] std::vector<Lead> leads(const SweepCurve& one, const SweepCurve& other);

}  // namespace tuner::session
