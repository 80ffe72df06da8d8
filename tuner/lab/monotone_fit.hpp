// SPDX-License-Identifier: Apache-2.0
// Module lab: experiments that no run needs: sweeps over sizes with transfers, replays of
// recordings, scores of strategies.
//
// Curves through points, as scoring needs them.
#pragma once

#include <span>
#include <vector>

namespace tuner::lab {

/// Points of a curve, x ascending.
struct FittedCurve {
  std::vector<double> x;
  std::vector<double> y;
};

/// `count` values, at least 2, at equal distances from `first` to `last`.
[[nodiscard]] std::vector<double> evenly_spaced(double first, double last, std::size_t count);

/// The curve at each of `at`, by straight lines between its points and level outside of them. It
/// has at least one point.
[[nodiscard]] std::vector<double> interpolate_linearly(const FittedCurve& curve,
                                                       std::span<const double> at);

/// The curve at each of `at`, by cubics that are as monotone as the points (Fritsch and Carlson,
/// SIAM J. Numer. Anal. 1980, with the three-point slopes at the ends that scipy and MATLAB take).
/// The curve has at least two points.
[[nodiscard]] std::vector<double> interpolate_monotonely(const FittedCurve& curve,
                                                         std::span<const double> at);

/// The curve that never rises and is closest to the points, in any order, by least squares: the
/// mean of those with one x, neighbours that rise pooled (pool adjacent violators; Ayer et al.,
/// Ann. Math. Stat. 1955).
[[nodiscard]] FittedCurve falling_fit(std::span<const double> x, std::span<const double> y);

}  // namespace tuner::lab
