// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/recorded_product.hpp"

#include "tuner/core/file.hpp"
#include "tuner/family/suite.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <limits>

namespace tuner::cli {
namespace {

using family::RecordedProduct;

constexpr std::size_t kMostSuiteBytes = std::size_t{16} << 20;

}  // namespace

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

std::string why_not(const RecordedProduct& it) {
  if (!it.objection.empty()) return it.objection;
  if (type_of(it) == nullptr) return "element type";
  constexpr std::int64_t kLargest = std::numeric_limits<std::int32_t>::max();
  constexpr std::int64_t kMostProducts = 65'535;
  const bool fits =
      std::max({it.m, it.n, it.k, it.lda, it.ldb, it.ldc}) <= kLargest && it.batch <= kMostProducts;
  return fits ? "" : "too large";
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
  const family::RecordedCalls calls =
      family::parse_recorded_calls(recorded->dump(), suite.string() + ": recorded");
  const bool is_timed = std::ranges::all_of(
      calls.products, [](const RecordedProduct& it) { return it.estimated_ns() > 0; });
  for (family::WeightedSize& it : sizes) {
    double weight = 0;
    for (const RecordedProduct& product : calls.products) {
      if (!can_be_tuned(product) || type_of(product)->family != family.name) continue;
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
