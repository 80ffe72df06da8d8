// SPDX-License-Identifier: Apache-2.0
#include "tuner/select/library_model.hpp"

#include "tuner/select/triangle.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace tuner::select {
namespace {

/// Sizes 4.5 times apart in one dimension are at a distance of 1.
constexpr double kReachOfExtents = 1.5;
/// Rows are read by accesses of 1, 2 or 4 elements; the first and the last are half a distance
/// apart.
constexpr double kReachOfAlignment = 4;
constexpr std::int64_t kWidestAccess = 4;

/// Of ln ratio, from size to size. What the sizes show scales it, beside as many that show just
/// this.
constexpr double kDeviation = 0.2;
constexpr double kPriorOfDeviation = 20;
/// Of a single final, and of what two sizes next to each other have not in common.
constexpr double kNoise = 0.1;
/// The weight of the prior, in sizes: that there is no difference.
constexpr double kPriorOfMean = 3;
/// Beyond these many the next hardly counts, and the work grows by their cube.
constexpr std::size_t kMost = 64;

/// Rough from the first step on: libraries choose among kernels of their own by rules that jump.
double covariance(const SizeFeatures& a, const SizeFeatures& b) {
  return kDeviation * kDeviation * std::exp(-std::sqrt(squared_distance(a, b)));
}

std::vector<const LibraryRatio*> nearest(std::span<const LibraryRatio> known,
                                         const SizeFeatures& asked) {
  std::vector<std::pair<double, const LibraryRatio*>> all;
  for (const LibraryRatio& it : known) all.emplace_back(squared_distance(it.features, asked), &it);
  std::ranges::stable_sort(all, {}, &std::pair<double, const LibraryRatio*>::first);
  all.resize(std::min(kMost, all.size()));
  std::vector<const LibraryRatio*> chosen;
  for (const auto& [distance, it] : all) chosen.push_back(it);
  return chosen;
}

}  // namespace

SizeFeatures size_features(const space::Size& size, const RankedKernel& kernel) {
  const std::vector<std::size_t> of_flops = kernel.flops().slots();
  SizeFeatures features;
  for (std::size_t i = 0; i < size.size(); ++i) {
    if (kernel.dims()[i].is_kind()) continue;
    const bool counts = std::ranges::count(of_flops, i + space::attribute_fields().size()) > 0;
    if (counts) {
      features.push_back(std::log(static_cast<double>(size[i])) / kReachOfExtents);
    } else {
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

ExpectedRatio expected_ratio(std::span<const LibraryRatio> known, const SizeFeatures& asked) {
  double sum = 0;
  for (const LibraryRatio& it : known) sum += it.ln_ratio;
  const double mean = sum / (static_cast<double>(known.size()) + kPriorOfMean);
  const std::vector<const LibraryRatio*> near = nearest(known, asked);
  std::vector<double> beyond_mean, to_asked;
  for (const LibraryRatio* it : near) {
    beyond_mean.push_back(it->ln_ratio - mean);
    to_asked.push_back(covariance(it->features, asked));
  }
  const Triangle triangle(near.size(), [&](std::size_t i, std::size_t j) {
    return covariance(near[i]->features, near[j]->features) + (i == j ? kNoise * kNoise : 0);
  });
  const std::vector<double> weights = triangle.solve(to_asked);
  const std::vector<double> surprises = triangle.solve(beyond_mean);
  const double unknown = kDeviation * kDeviation + kNoise * kNoise - dot(weights, weights);
  const double scale = (kPriorOfDeviation + dot(surprises, surprises)) /
                       (kPriorOfDeviation + static_cast<double>(near.size()));
  return {.ln_ratio = mean + dot(weights, surprises),
          .error = std::sqrt(scale * std::max(kNoise * kNoise, unknown))};
}

}  // namespace tuner::select
