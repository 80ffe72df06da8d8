// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/select/stored_kernel.hpp"
#include "tuner/space/size.hpp"

#include <vector>

namespace tuner::select {

/// Where a size stands among the others of its kind, for a model of times: the logarithms of the
/// dimensions that the flops depend on, and how well rows of the other dimensions are aligned. Two
/// sizes at a distance of 1 have much in common, at 3 nothing.
using SizeFeatures = std::vector<double>;
[[nodiscard]] SizeFeatures size_features(const space::Size& size, const StoredKernel& kernel);

/// Both of the same kernel.
[[nodiscard]] double squared_distance(const SizeFeatures& a, const SizeFeatures& b);

}  // namespace tuner::select
