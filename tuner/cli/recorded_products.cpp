// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/recorded_products.hpp"

#include "tuner/cli/database.hpp"
#include "tuner/core/error.hpp"
#include "tuner/core/file.hpp"
#include "tuner/core/quantity.hpp"
#include "tuner/family/suite.hpp"
#include "tuner/select/rank.hpp"
#include "tuner/select/shipped_table.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <limits>
#include <numeric>

namespace tuner::cli {
namespace {

using family::RecordedCalls;
using family::RecordedProduct;

constexpr std::size_t kMostSuiteBytes = std::size_t{16} << 20;

/// What a product's types are in the family that is fastest at them.
struct TypeOfFamily {
  std::string_view recorded, family, type;
};

/// Null where no family has such a product.
const TypeOfFamily* type_of(const RecordedProduct& it) {
  static constexpr std::array<TypeOfFamily, 6> kTypes = {
      {{"f32", "gemm", "f32"},
       {"f64", "gemm", "f64"},
       {"s8,s8,s32", "gemm", "s8"},
       {"bf16", "gemm_tensor", "bf16"},
       {"f16", "gemm_tensor", "f16"},
       {"bf16,bf16,f32", "gemm_tensor", "bf16_f32"}}};
  const auto found = std::ranges::find(kTypes, it.type, &TypeOfFamily::recorded);
  return found == kTypes.end() ? nullptr : &*found;
}

}  // namespace

std::string why_not(const RecordedProduct& it) {
  if (!it.objection.empty()) return it.objection;
  if (type_of(it) == nullptr) return "element type";
  constexpr std::int64_t kLargest = std::numeric_limits<std::int32_t>::max();
  constexpr std::int64_t kMostProducts = 65'535;
  const bool fits =
      std::max({it.m, it.n, it.k, it.lda, it.ldb, it.ldc}) <= kLargest && it.batch <= kMostProducts;
  return fits ? "" : "too large";
}

bool can_be_tuned(const RecordedProduct& product) {
  return why_not(product).empty();
}

std::string_view family_of(const RecordedProduct& it) {
  return type_of(it)->family;
}

Json size_of(const RecordedProduct& it) {
  Json size = {{"M", it.m}, {"N", it.n}, {"K", it.k}};
  if (it.batch != 1) size["BATCH"] = it.batch;
  if (it.trans_a) size["TRANS_A"] = 1;
  if (it.trans_b) size["TRANS_B"] = 1;
  if (it.lda != (it.trans_a ? it.m : it.k)) size["LDA"] = it.lda;
  if (it.ldb != (it.trans_b ? it.k : it.n)) size["LDB"] = it.ldb;
  if (it.ldc != it.n) size["LDC"] = it.ldc;
  if (it.align != 4) size["ALIGN"] = it.align;
  if (it.bias != 0) size["BIAS"] = it.bias;
  if (it.activation != 0) size["ACTIVATION"] = it.activation;
  if (const auto* type = type_of(it); type && type->type != "f32") size["TYPE"] = type->type;
  return size;
}

std::string shown_product(const RecordedProduct& it) {
  std::string text = fmt::format("{},{},{}", it.m, it.n, it.k);
  const Json size = size_of(it);
  for (const auto& [name, value] : size.items()) {
    if (name == "M" || name == "N" || name == "K") continue;
    text +=
        fmt::format(",{}={}", name, value.is_string() ? value.get<std::string>() : value.dump());
  }
  return text;
}

double total_ns(const RecordedCalls& calls) {
  return std::accumulate(
      calls.products.begin(), calls.products.end(), 0.0,
      [](double sum, const RecordedProduct& it) { return sum + it.estimated_ns(); });
}

std::optional<RecordedCalls> recorded_in(const std::string& file_and_group) {
  const Json recorded = family::suite_recording(file_and_group);
  if (recorded.is_null()) return std::nullopt;
  return family::parse_recorded_calls(recorded.dump(), file_and_group);
}

std::vector<family::WeightedSize> recorded_sizes(const std::filesystem::path& suite,
                                                 const family::Family& family) {
  const std::string text = read_file(suite, kMostSuiteBytes);
  std::vector<family::WeightedSize> sizes;
  for (space::Size& size : family::parse_suite(text, suite.string(), family).sizes("")) {
    sizes.push_back({.size = std::move(size)});
  }
  const Json document = parse_json(text, suite.string());
  const auto recorded = document.find("recorded");
  if (recorded == document.end()) return sizes;
  const RecordedCalls calls =
      family::parse_recorded_calls(recorded->dump(), suite.string() + ": recorded");
  const bool is_timed = std::ranges::all_of(
      calls.products, [](const RecordedProduct& it) { return it.estimated_ns() > 0; });
  for (family::WeightedSize& it : sizes) {
    double weight = 0;
    for (const RecordedProduct& product : calls.products) {
      if (!can_be_tuned(product) || family_of(product) != family.name) continue;
      if (space::size_from_json(size_of(product), family.problem.dims, suite.string()) != it.size) {
        continue;
      }
      weight += is_timed ? product.estimated_ns() : static_cast<double>(product.count);
    }
    if (weight > 0) it.weight = weight;
  }
  return sizes;
}

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
