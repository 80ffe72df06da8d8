// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tuner {

/// The numbers of a canonical size: "4096,4096,64" gives {4096, 4096, 64}; none when it is not one.
[[nodiscard]] std::optional<std::vector<std::int64_t>> numbers_of(std::string_view canonical_size);
/// "4096,4096,64".
[[nodiscard]] std::string canonical_size(std::span<const std::int64_t> numbers);

/// How far one size is from another: per dimension |ln(a / b)|, so that twice and half are equally
/// far and the shape counts, not the volume. The nearer of two compares less: by the dimension that
/// differs most, then by all of them, then the smaller size.
struct Nearness {
  double largest = 0;  ///< L∞ norm
  double total = 0;    ///< L2 norm
  double volume = 0;
  std::vector<std::int64_t> size;

  auto operator<=>(const Nearness&) const = default;
};

/// Sizes are positive and have the same number of dimensions.
[[nodiscard]] Nearness nearness(std::span<const std::int64_t> asked,
                                std::vector<std::int64_t> size);

}  // namespace tuner
