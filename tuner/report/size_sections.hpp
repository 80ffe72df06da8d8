// SPDX-License-Identifier: Apache-2.0
// The parts of the page about one size of a kernel.
#pragma once

#include "tuner/core/json.hpp"
#include "tuner/report/metric.hpp"

namespace tuner::report {

/// A page holds at most this many candidates of a size one by one.
inline constexpr std::size_t kTrialLimit = 5000;

/// Could the search have stopped earlier? The candidates at which the best changed.
[[nodiscard]] Json convergence_section(const KernelHistory& kernel, const SizeHistory& size);
/// How hard is the space? Counts of candidates by time, on a logarithmic scale.
[[nodiscard]] Json distribution_section(const SizeHistory& size);
/// How did each strategy's searches come to their best? Their best so far over candidates and over
/// seconds, as a multiple of the best known, and how soon they were close to it.
[[nodiscard]] Json search_section(const SizeHistory& size);
/// How do two parameters work together? For every pair of parameters the best over all others.
[[nodiscard]] Json heatmap_section(const KernelHistory& kernel, const SizeHistory& size,
                                   const Metric& metric);
/// Is the winner real? The contenders of the final, timed in turns.
[[nodiscard]] Json finalists_section(const KernelHistory& kernel, const SizeHistory& size);

/// The candidates one by one as columns: all up to kTrialLimit, else the fastest half of that many
/// and an even sample of the others.
[[nodiscard]] Json trial_columns(const KernelHistory& kernel, const SizeHistory& size);

}  // namespace tuner::report
