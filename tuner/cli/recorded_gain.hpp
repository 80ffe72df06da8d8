// SPDX-License-Identifier: Apache-2.0
// What tuned kernels save a recorded program.
#pragma once

#include "tuner/cli/commands.hpp"
#include "tuner/family/family.hpp"
#include "tuner/family/recorded_calls.hpp"
#include "tuner/select/catalogue.hpp"

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace tuner::cli {

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
