// SPDX-License-Identifier: Apache-2.0
#include "tuner/select/nearness.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace tuner::select {

std::optional<Nearness> nearness(const space::Size& asked, space::Size size,
                                 const space::Dimensions& dims) {
  std::vector<double> differences;
  double volume = 1;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (dims[i].is_kind()) {
      if (asked[i] != size[i]) return std::nullopt;
      continue;
    }
    if (i < dims.required()) volume *= static_cast<double>(size[i]);
    if (dims.is_default(i, asked) && dims.is_default(i, size)) continue;
    const auto [smaller, larger] = std::minmax(asked[i], size[i]);
    differences.push_back(std::log(static_cast<double>(larger) / static_cast<double>(smaller)));
  }
  // Summed in ascending order, so that sizes with swapped dimensions come out equal to the bit.
  std::sort(differences.begin(), differences.end());
  double squares = 0;
  for (const double difference : differences) squares += difference * difference;
  return Nearness{.largest = differences.empty() ? 0 : differences.back(),
                  .total = std::sqrt(squares),
                  .volume = volume,
                  .size = std::move(size)};
}

}  // namespace tuner::select
