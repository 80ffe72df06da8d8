// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/report/history.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace tuner::report {

/// How fast a kernel is said to be: floating-point operations per second or, for a kernel that only
/// moves data, bytes per second; in thousands of millions or in millions of millions, whichever
/// suits the kernel's fastest size.
struct Metric {
  enum class Work { none, flops, bytes };
  Work work = Work::none;
  std::string unit;  ///< "TFLOP/s"; empty when no work is known
  double scale = 1;  ///< work per nanosecond in one unit

  /// The work of a size; none before its first final, which records it.
  [[nodiscard]] std::optional<double> work_of(const SizeHistory& size) const;
  /// The rate, in `unit`, of doing the size's work in a time.
  [[nodiscard]] std::optional<double> rate(const SizeHistory& size, double ns) const;
};

[[nodiscard]] Metric metric_of(const KernelHistory& kernel);

/// What a time is of, in the words of the program's tables.
inline constexpr std::string_view kBackToBack = "back to back", kCold = "cold";

/// What sizes are ranked by, as the program does: the best configuration's time back to back with
/// cold operands where that was timed, else of single launches from a cold cache; before a final
/// round that of the fastest trial, by rank_trials. None without a result.
[[nodiscard]] std::optional<double> ranking_ns(const SizeHistory& size);
/// What that time is of: kBackToBack or kCold.
[[nodiscard]] std::string_view ranking_measure(const SizeHistory& size);
/// The default's and the library's time by the same measure; a default that was too slow for a
/// series has its single launches times the best's share. None where they were not timed.
[[nodiscard]] std::optional<double> default_ns(const SizeHistory& size);
[[nodiscard]] std::optional<double> library_ns(const SizeHistory& size);
/// store::cold_gain of the best; none without one.
[[nodiscard]] std::optional<double> cold_gain(const SizeHistory& size);
/// The time of single launches of the best known configuration: of its final or, before that, of
/// the fastest trial.
[[nodiscard]] std::optional<double> best_ns(const SizeHistory& size);
/// Whether trials of the size were timed back to back.
[[nodiscard]] bool has_series(const SizeHistory& size);
/// What ReportedTrial::ranking_ns is of: kBackToBack or kCold.
[[nodiscard]] std::string_view measure_of_trials(const SizeHistory& size);
/// The trial that ended `ok` and is fastest in the order of a search; null when there is none.
[[nodiscard]] const ReportedTrial* fastest(const SizeHistory& size);

}  // namespace tuner::report
