// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/recorded_products.hpp"

#include "tuner/core/file.hpp"
#include "tuner/family/suite.hpp"

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

}  // namespace tuner::cli
