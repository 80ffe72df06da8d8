// SPDX-License-Identifier: Apache-2.0
// Which parameters decide about the time.
#pragma once

#include "tuner/report/history.hpp"

#include <cstddef>
#include <optional>
#include <vector>

namespace tuner::report {

/// Fewer successful trials tell nothing about importance.
inline constexpr std::size_t kFewestTrials = 30;

/// How much of the variance of log time one parameter alone explains.
struct Importance {
  std::size_t parameter = 0;  ///< of KernelHistory::parameters
  double share = 0;           ///< of one: ε², η² without its bias (Kelley, PNAS 21, 1935)
  double low = 0, high = 0;   ///< 95 % interval, by a jackknife over 20 groups of trials
};

/// Of the parameters that took several values, the most important first; none below kFewestTrials
/// successful trials, nor where all of them took the same time.
using Importances = std::optional<std::vector<Importance>>;

/// Importances of a kernel's parameters.
struct KernelImportances {
  std::vector<Importances> of_sizes;  ///< in the order of KernelHistory::sizes
  /// Of the variance within the sizes: what a size's own level explains is left out. A parameter is
  /// counted at the sizes at which it took several values and that leave degrees of freedom.
  Importances over_sizes;
};
[[nodiscard]] KernelImportances importances(const KernelHistory& kernel);

/// The trials of a size that ended with a time.
[[nodiscard]] std::uint64_t working_trials(const SizeHistory& size);

}  // namespace tuner::report
