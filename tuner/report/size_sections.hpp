// SPDX-License-Identifier: Apache-2.0
// The parts of the page about one size of a kernel, and about its parameters.
#pragma once

#include "tuner/core/json.hpp"
#include "tuner/report/importance.hpp"
#include "tuner/report/metric.hpp"

#include <string_view>

namespace tuner::report {

/// A page holds at most this many candidates of a size one by one.
inline constexpr std::size_t kTrialLimit = 5000;
/// A time up to so many times the best is close to it.
inline constexpr double kNear = 1.05;

/// Whether the search of a run could have found more.
enum class Convergence {
  exhausted,   ///< it tried every configuration
  few_trials,  ///< fewer than kFewestTrials
  improving,   ///< the best came down by 1 % or more in the last fifth of its trials
  converged,
};
[[nodiscard]] Convergence convergence_of(const SearchRun& run);
[[nodiscard]] std::string_view name(Convergence convergence);

/// The times a reader compares trials with, as the final round measured them and by the measure of
/// the trials; none where it did not take that.
[[nodiscard]] Json marks_of(const SizeHistory& size);

/// Could the search have stopped earlier? By run, the trials at which its best changed.
[[nodiscard]] Json convergence_section(const KernelHistory& kernel, const SizeHistory& size);
/// How hard is the space? Counts of candidates by time, on a logarithmic scale.
[[nodiscard]] Json distribution_section(const SizeHistory& size);
/// How did each strategy's searches come to their best? Their best so far over candidates and over
/// seconds, as a multiple of the best known, and how soon they were close to it.
[[nodiscard]] Json search_section(const SizeHistory& size);
/// How do two parameters work together? For every pair of the most important ones the best over all
/// others.
[[nodiscard]] Json heatmap_section(const KernelHistory& kernel, const SizeHistory& size,
                                   const Metric& metric, const Importances& ranked);
/// Is the winner real? The contenders of the final round, timed interleaved: which was chosen, by
/// what rule, and which was fastest. `default_config`: canonical JSON for the default of an
/// imported size, whose line lacks it; empty where it is not known.
[[nodiscard]] Json finalists_section(const KernelHistory& kernel, const SizeHistory& size,
                                     const std::string& default_config = {});
/// Why is the winner the fastest? Its bound, its place in the roofline model, and its hardware
/// counters beside those of its neighbours, the default and the library. Of an explained size.
[[nodiscard]] Json explanation_section(const KernelHistory& kernel, const SizeHistory& size,
                                       const space::DeviceAttributes& device);

/// The candidates one by one as columns: all up to kTrialLimit, else the fastest half of that many
/// and an even sample of the others.
[[nodiscard]] Json trial_columns(const KernelHistory& kernel, const SizeHistory& size);

/// Which parameters decide at a size? The share of the variance of log time that each explains.
[[nodiscard]] Json importance_section(const KernelHistory& kernel, const SizeHistory& size,
                                      const Importances& ranked);

/// Which parameters of a kernel decide within its sizes, and how far that differs from size to
/// size?
[[nodiscard]] Json importance_over_sizes(const KernelHistory& kernel,
                                         const KernelImportances& ranked);

/// Where does which parameter decide? The shares of all parameters, size by size.
[[nodiscard]] Json importance_by_size(const KernelHistory& kernel, const KernelImportances& ranked);

}  // namespace tuner::report
