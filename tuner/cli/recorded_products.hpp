// SPDX-License-Identifier: Apache-2.0
// The products that `tune record` finds, as sizes of families, and what tuned kernels save of
// their time.
#pragma once

#include "tuner/cli/commands.hpp"
#include "tuner/core/json.hpp"
#include "tuner/family/family.hpp"
#include "tuner/family/recorded_calls.hpp"
#include "tuner/family/size_distribution.hpp"
#include "tuner/select/catalogue.hpp"

#include <array>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <span>
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

/// What is known of a family on the device: by the database, else by the table that is shipped.
[[nodiscard]] std::optional<select::Catalogue> known_of(const CommonOptions& common,
                                                        const std::string& device,
                                                        std::string_view family);
/// How much of a product's time its best kernel is expected to save; 0 where that is not known.
[[nodiscard]] double expected_gain(const select::Catalogue& known,
                                   const family::RecordedProduct& product);

/// How important the sizes of a family are: what tuning each is expected to save of the recorded
/// time, in ns, and a little where nothing is expected. Empty where nothing was recorded.
[[nodiscard]] std::map<space::Size, double> importance_of_sizes(const CommonOptions& common,
                                                                const family::RecordedCalls& calls,
                                                                const family::Family& family);

/// Of a family: the library's time over that of the fastest kernel, confirmed side by side, by
/// size.
struct ConfirmedRatios {
  space::Dimensions dims;
  std::map<space::Size, double> by_size = {};
};
using ConfirmedByFamily = std::map<std::string, ConfirmedRatios, std::less<>>;

/// What kernels save of the recorded time.
struct RecordedGain {
  std::size_t products = 0;       ///< with a confirmed ratio
  std::size_t unconfirmed = 0;    ///< that can be tuned but have none
  std::size_t library_first = 0;  ///< of the confirmed: the library is not slower
  double all_ns = 0, products_ns = 0, saved_ns = 0;
};
[[nodiscard]] RecordedGain recorded_gain(std::span<const family::RecordedCalls> recordings,
                                         const ConfirmedByFamily& confirmed);
/// "36 products, 97 % of the recorded time: expected 5.8 % of it …"; empty without a product.
[[nodiscard]] std::string gain_text(const RecordedGain& gain, std::string_view library);

}  // namespace tuner::cli
