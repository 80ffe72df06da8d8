// SPDX-License-Identifier: Apache-2.0
// What the library takes beside our best at a size at which neither was timed
// (docs/reference/selection.md).
#pragma once

#include "tuner/select/ranked_kernel.hpp"
#include "tuner/space/size.hpp"

#include <span>
#include <vector>

namespace tuner::select {

/// Where a size stands among the others of its kind, for a model of times: the logarithms of the
/// dimensions that the flops depend on, and how well rows of the other dimensions are aligned. Two
/// sizes at a distance of 1 have much in common, at 3 nothing.
using SizeFeatures = std::vector<double>;
[[nodiscard]] SizeFeatures size_features(const space::Size& size, const RankedKernel& kernel);

/// Both of the same kernel.
[[nodiscard]] double squared_distance(const SizeFeatures& a, const SizeFeatures& b);

/// The result of the final round of one size.
struct LibraryRatio {
  SizeFeatures features;
  double ln_ratio = 0;  ///< of the library's time to that of the best configuration
};

/// One standard deviation to either side.
struct ExpectedRatio {
  double ln_ratio = 0;
  double error = 0;
};

/// By a Gaussian process through the sizes that there are, of which those next to the asked one
/// count. Where there are none near, a little of their mean with a large error.
[[nodiscard]] ExpectedRatio expected_ratio(std::span<const LibraryRatio> known,
                                           const SizeFeatures& asked);

}  // namespace tuner::select
