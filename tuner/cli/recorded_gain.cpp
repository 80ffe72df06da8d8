// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/recorded_gain.hpp"

#include "tuner/cli/database.hpp"
#include "tuner/cli/recorded_products.hpp"
#include "tuner/core/error.hpp"
#include "tuner/core/quantity.hpp"
#include "tuner/select/rank.hpp"
#include "tuner/select/shipped_table.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace tuner::cli {

using family::RecordedCalls;
using family::RecordedProduct;

namespace {

std::optional<double> ratio_of(const RecordedProduct& product, const ConfirmedByFamily& confirmed) {
  const auto family = confirmed.find(family_of(product));
  if (family == confirmed.end()) return std::nullopt;
  const auto& [dims, by_size] = family->second;
  const auto ratio = by_size.find(space::parse_size(shown_product(product), dims));
  return ratio == by_size.end() ? std::nullopt : std::optional(ratio->second);
}

}  // namespace

std::optional<select::Catalogue> known_of(const CommonOptions& common, const std::string& device,
                                          std::string_view family) {
  try {
    return select::catalogue(open_database(common, store::Store::Mode::read_only),
                             {.device = device, .family = std::string(family)});
  } catch (const Error& error) {
    if (error.code() != ErrorCode::nothing_found) throw;
    return select::shipped_catalogue(device);
  }
}

double expected_gain(const select::Catalogue& known, const RecordedProduct& product) {
  try {
    const select::Ranking ranking = select::rank(
        known, {.family = std::string(family_of(product)), .size = shown_product(product)});
    const auto library = std::ranges::find(ranking.answers, nullptr, &select::Selection::kernel);
    if (ranking.answers.empty() || library == ranking.answers.end()) return 0;
    const select::Selection& best = ranking.answers.front();
    if (best.kernel == nullptr || !best.expected_ns || !library->expected_ns) return 0;
    return std::max(0.0, 1 - *best.expected_ns / *library->expected_ns);
  } catch (const Error&) {  // no size of the family's
    return 0;
  }
}

std::map<space::Size, double> importance_of_sizes(const CommonOptions& common,
                                                  const RecordedCalls& calls,
                                                  const family::Family& family) {
  // What tuning saved where nothing was known: 2 to 10 %; where the library was expected to be the
  // fastest there was little.
  constexpr double kUnknown = 0.05, kLeast = 0.01;
  const auto known = known_of(common, calls.device, family.name);
  std::map<space::Size, double> importance;
  for (const RecordedProduct& product : calls.products) {
    if (!can_be_tuned(product) || family_of(product) != family.name) continue;
    const double gain = known ? std::max(kLeast, expected_gain(*known, product)) : kUnknown;
    importance[space::parse_size(shown_product(product), family.problem.dims)] +=
        gain * product.estimated_ns();
  }
  return importance;
}

RecordedGain recorded_gain(std::span<const RecordedCalls> recordings,
                           const ConfirmedByFamily& confirmed) {
  RecordedGain gain;
  for (const RecordedCalls& calls : recordings) {
    gain.all_ns += total_ns(calls);
    for (const RecordedProduct& product : calls.products) {
      if (!can_be_tuned(product)) continue;
      const std::optional<double> ratio = ratio_of(product, confirmed);
      if (!ratio) {
        ++gain.unconfirmed;
        continue;
      }
      ++gain.products;
      gain.products_ns += product.estimated_ns();
      if (*ratio > 1) {
        gain.saved_ns += product.estimated_ns() * (1 - 1 / *ratio);
      } else {
        ++gain.library_first;
      }
    }
  }
  return gain;
}

std::string gain_text(const RecordedGain& gain, std::string_view library) {
  if (gain.products + gain.unconfirmed == 0) return "";
  std::string text = quantity::count(gain.products, "product");
  if (gain.all_ns > 0) {
    text += fmt::format(", {:.0f} % of the recorded time: expected saving {:.1f} % of it",
                        100 * gain.products_ns / gain.all_ns, 100 * gain.saved_ns / gain.all_ns);
  } else {
    text += "; the recording has no times";
  }
  if (gain.library_first > 0) {
    text += fmt::format(" ({} is fastest at {})", library, gain.library_first);
  }
  if (gain.unconfirmed > 0) {
    text += fmt::format("; {} without a final round", quantity::count(gain.unconfirmed, "product"));
  }
  return text + "\n";
}

}  // namespace tuner::cli
