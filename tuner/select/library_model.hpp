// SPDX-License-Identifier: Apache-2.0
// What the library takes beside our best at a size at which neither was timed
// (docs/reference/selection.md).
#pragma once

#include "tuner/select/size_features.hpp"

#include <span>

namespace tuner::select {

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
