// SPDX-License-Identifier: Apache-2.0
#include "tuner/select/size_features.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace tuner::select {
namespace {

/// Sizes 4.5 times apart in one dimension are at a distance of 1.
constexpr double kReachOfExtents = 1.5;
/// Rows are read by accesses of 1, 2 or 4 elements; the first and the last are half a distance
/// apart.
constexpr double kReachOfAlignment = 4;
constexpr std::int64_t kWidestAccess = 4;

}  // namespace

SizeFeatures size_features(const space::Size& size, const StoredKernel& kernel) {
  const std::vector<std::size_t> of_flops = kernel.flops.slots();
  SizeFeatures features;
  for (std::size_t i = 0; i < size.size(); ++i) {
    const bool counts = std::ranges::count(of_flops, i + space::attribute_fields().size()) > 0;
    if (counts) {
      features.push_back(std::log(static_cast<double>(size[i])) / kReachOfExtents);
    } else if (!kernel.dims()[i].is_kind()) {
      const auto access = static_cast<double>(std::gcd(size[i], kWidestAccess));
      features.push_back(std::log2(access) / kReachOfAlignment);
    }
  }
  return features;
}

double squared_distance(const SizeFeatures& a, const SizeFeatures& b) {
  return std::transform_reduce(a.begin(), a.end(), b.begin(), 0.0, std::plus<>(),
                               [](double x, double y) { return (x - y) * (x - y); });
}

}  // namespace tuner::select
