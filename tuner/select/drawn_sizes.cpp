// SPDX-License-Identifier: Apache-2.0
#include "tuner/select/drawn_sizes.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <random>
#include <utility>

namespace tuner::select {
namespace {

/// The values of a dimension.
struct Extent {
  std::int64_t least = 0, greatest = 0;
  std::int64_t multiple = 64;

  Extent(std::span<const space::Size> given, std::size_t dimension)
      : least(given.front()[dimension]), greatest(least) {
    for (const space::Size& size : given) {
      least = std::min(least, size[dimension]);
      greatest = std::max(greatest, size[dimension]);
      multiple = std::gcd(multiple, size[dimension]);
    }
  }

  /// `share` of the way from the least to the greatest.
  [[nodiscard]] std::int64_t at(double share) const {
    const double low = std::log(static_cast<double>(least));
    const double high = std::log(static_cast<double>(greatest));
    const double value = std::exp(low + share * (high - low));
    const auto multiples = std::llround(value / static_cast<double>(multiple));
    return std::clamp<std::int64_t>(multiples * multiple, least, greatest);
  }
};

/// In [0, 1), the same with every standard library.
double share(std::mt19937_64& random) {
  return static_cast<double>(random() >> 11U) * 0x1p-53;
}

}  // namespace

std::vector<space::Size> drawn_sizes(const space::Dimensions& dims,
                                     std::span<const space::Size> given, std::size_t count) {
  std::vector<Extent> extents;
  for (std::size_t i = 0; i < dims.required(); ++i) extents.emplace_back(given, i);
  std::mt19937_64 random(1);
  std::vector<space::Size> sizes;
  for (std::size_t drawn = 0; drawn < count; ++drawn) {
    const space::Size& like = given[random() % given.size()];
    std::vector<std::optional<std::int64_t>> numbers(dims.size());
    for (std::size_t i = 0; i < dims.size(); ++i) {
      if (dims[i].is_kind()) {
        numbers[i] = like[i];
      } else if (i < extents.size()) {
        numbers[i] = extents[i].at(share(random));
      }
    }
    if (auto size = dims.complete(numbers)) sizes.push_back(*std::move(size));
  }
  return sizes;
}

}  // namespace tuner::select
