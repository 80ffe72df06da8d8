// SPDX-License-Identifier: Apache-2.0
// The products that `tune record` finds, as sizes of families.
#pragma once

#include "tuner/core/json.hpp"
#include "tuner/family/family.hpp"
#include "tuner/family/recorded_calls.hpp"
#include "tuner/family/size_distribution.hpp"

#include <array>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tuner::cli {

/// The families that have products, in spaces/ under their names.
inline constexpr std::array<std::string_view, 2> kProductFamilies = {"gemm", "gemm_tensor"};

/// Why a product cannot be tuned; empty where it can. What its family has no size for would make
/// the whole suite one that cannot be read.
[[nodiscard]] std::string why_not(const family::RecordedProduct& it);
[[nodiscard]] bool can_be_tuned(const family::RecordedProduct& product);
/// Of a product that can be tuned: the family that is fastest at its types.
[[nodiscard]] std::string_view family_of(const family::RecordedProduct& it);
/// The dimensions of its family that are not their default.
[[nodiscard]] Json size_of(const family::RecordedProduct& it);
/// The size of a product as text: "64,64,64,TRANS_B=1".
[[nodiscard]] std::string shown_product(const family::RecordedProduct& it);
/// The estimated time of all calls, in nanoseconds.
[[nodiscard]] double total_ns(const family::RecordedCalls& calls);

/// The recording in a suite, "FILE" or "FILE:GROUP"; none in a suite that `tune record` did not
/// write. Throws Error(usage) as suite_sizes.
[[nodiscard]] std::optional<family::RecordedCalls> recorded_in(const std::string& file_and_group);

/// The sizes of a suite, each with the time that all calls of its products took, else their number,
/// where the suite is one that `tune record` wrote. Throws Error(usage) as family::parse_suite.
[[nodiscard]] std::vector<family::WeightedSize> recorded_sizes(const std::filesystem::path& suite,
                                                               const family::Family& family);

}  // namespace tuner::cli
