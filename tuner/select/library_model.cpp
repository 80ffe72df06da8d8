// SPDX-License-Identifier: Apache-2.0
#include "tuner/select/library_model.hpp"

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

/// The lower triangle L of a covariance matrix L·Lᵀ, row by row (Cholesky).
class Triangle {
 public:
  explicit Triangle(std::span<const LibraryRatio* const> sizes) {
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      std::vector<double>& row = rows_.emplace_back();
      for (std::size_t j = 0; j < i; ++j) {
        const double rest = covariance(sizes[i]->features, sizes[j]->features) -
                            std::inner_product(row.begin(), row.end(), rows_[j].begin(), 0.0);
        row.push_back(rest / rows_[j][j]);
      }
      const double own = kDeviation * kDeviation + kNoise * kNoise;
      row.push_back(std::sqrt(own - std::inner_product(row.begin(), row.end(), row.begin(), 0.0)));
    }
  }

  /// L⁻¹ times a column.
  [[nodiscard]] std::vector<double> solve(const std::vector<double>& column) const {
    std::vector<double> solution;
    for (std::size_t i = 0; i < column.size(); ++i) {
      const double known =
          std::inner_product(solution.begin(), solution.end(), rows_[i].begin(), 0.0);
      solution.push_back((column[i] - known) / rows_[i][i]);
    }
    return solution;
  }

 private:
  std::vector<std::vector<double>> rows_;
};

double dot(const std::vector<double>& a, const std::vector<double>& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

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
  const Triangle triangle(near);
  const std::vector<double> weights = triangle.solve(to_asked);
  const std::vector<double> surprises = triangle.solve(beyond_mean);
  const double unknown = kDeviation * kDeviation + kNoise * kNoise - dot(weights, weights);
  const double scale = (kPriorOfDeviation + dot(surprises, surprises)) /
                       (kPriorOfDeviation + static_cast<double>(near.size()));
  return {.ln_ratio = mean + dot(weights, surprises),
          .error = std::sqrt(scale * std::max(kNoise * kNoise, unknown))};
}

}  // namespace tuner::select
