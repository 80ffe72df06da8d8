// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>

namespace tuner {

/// The value below which a share of the samples lies, interpolated linearly between neighbours
/// (type 7 of Hyndman & Fan, The American Statistician 50, 1996). `share` is in [0, 1]; absent for
/// no samples.
[[nodiscard]] std::optional<double> quantile(std::span<const double> samples, double share);

/// Of at least one sample, in ascending order.
[[nodiscard]] double sorted_quantile(std::span<const double> sorted, double share);

}  // namespace tuner
