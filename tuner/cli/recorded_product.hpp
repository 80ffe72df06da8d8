// SPDX-License-Identifier: Apache-2.0
// What products that `tune record` saw are in the families that have products.
#pragma once

#include "tuner/core/json.hpp"
#include "tuner/family/family.hpp"
#include "tuner/family/recorded_calls.hpp"
#include "tuner/family/size_distribution.hpp"

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace tuner::cli {

/// What a product's types are in the family that is fastest at them.
struct TypeOfFamily {
  std::string_view recorded, family, type;
};

/// Null where no family has such a product.
[[nodiscard]] const TypeOfFamily* type_of(const family::RecordedProduct& product);

/// Why a product cannot be tuned; empty where it can. What its family has no size for would make
/// the whole suite one that cannot be read.
[[nodiscard]] std::string why_not(const family::RecordedProduct& product);
[[nodiscard]] inline bool can_be_tuned(const family::RecordedProduct& product) {
  return why_not(product).empty();
}

/// The dimensions of its family that are not their default.
[[nodiscard]] Json size_of(const family::RecordedProduct& product);

/// The sizes of a suite, each with the time that all calls of its products took, else their number,
/// where the suite is one that `tune record` wrote. Throws Error(usage) as family::parse_suite.
[[nodiscard]] std::vector<family::WeightedSize> recorded_sizes(const std::filesystem::path& suite,
                                                               const family::Family& family);

}  // namespace tuner::cli
