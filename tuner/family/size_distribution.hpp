// SPDX-License-Identifier: Apache-2.0
// Which sizes programs ask for, and how often (format distribution/1,
// docs/reference/portfolios.md).
#pragma once

#include "tuner/family/family.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace tuner::family {

/// A size with how much it counts beside others.
struct WeightedSize {
  space::Size size;
  double weight = 1;
};

/// Whole numbers between two, both included.
struct NumberRange {
  enum class Scale { uniform, logarithmic };

  Scale scale = Scale::uniform;
  std::int64_t low = 1, high = 1;
  std::int64_t multiple_of = 1;
};
/// Rows of numbers, one for each dimension of a part; each as likely as any other.
using NumberRows = std::vector<std::vector<std::int64_t>>;

/// Dimensions that are drawn together.
struct ShapePart {
  std::vector<std::size_t> dims;  ///< places among the family's
  std::variant<NumberRange, NumberRows> numbers;
};

/// Sizes of one form. Dimensions that no part draws have their default.
struct DrawnShape {
  double weight = 1;
  std::vector<ShapePart> parts;
};

class SizeDistribution {
 public:
  SizeDistribution(std::string origin, space::Dimensions dims, std::vector<DrawnShape> shapes)
      : origin_(std::move(origin)), dims_(std::move(dims)), shapes_(std::move(shapes)) {}

  /// `count` different sizes, or fewer where it has no more, in the order drawn; the weight is how
  /// often one was drawn meanwhile. The same for the same seed on every machine. Throws
  /// Error(usage) where no size is found that the family's constraints allow.
  [[nodiscard]] std::vector<WeightedSize> draw(std::size_t count, std::uint64_t seed) const;

 private:
  class Drawing;

  std::string origin_;
  space::Dimensions dims_;
  std::vector<DrawnShape> shapes_;
};

/// Throws Error(usage): place in the document, what is wrong, and how to correct it.
[[nodiscard]] SizeDistribution parse_distribution(std::string_view text, std::string_view origin,
                                                  const Family& family);
[[nodiscard]] SizeDistribution load_distribution(const std::filesystem::path& path,
                                                 const Family& family);

}  // namespace tuner::family
