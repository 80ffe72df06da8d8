// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/recorded_products.hpp"

#include <gmock/gmock.h>

namespace tuner::cli {
namespace {

using family::RecordedCalls;
using family::RecordedProduct;

RecordedProduct product(std::int64_t m, double ns, const char* type = "f32") {
  RecordedProduct it;
  it.type = type;
  it.m = m;
  it.n = it.k = it.lda = it.ldb = it.ldc = 8;
  it.count = 2;
  it.timed = 1;
  it.timed_ns = ns / 2;
  return it;
}

ConfirmedByFamily confirmed(std::map<space::Size, double> ratios) {
  return {{"gemm", {.dims = {"M", "N", "K"}, .by_size = std::move(ratios)}}};
}

TEST(RecordedGain, IsTheTimeThatConfirmedKernelsSave) {
  const std::vector<RecordedCalls> calls = {
      {.device = "", .products = {product(1, 600), product(2, 300), product(3, 100)}}};
  const RecordedGain gain = recorded_gain(calls, confirmed({{{1, 8, 8}, 1.25}, {{2, 8, 8}, 0.9}}));
  EXPECT_EQ(gain.products, 2U);
  EXPECT_EQ(gain.library_first, 1U);
  EXPECT_EQ(gain.unconfirmed, 1U);
  EXPECT_DOUBLE_EQ(gain.all_ns, 1000);
  EXPECT_DOUBLE_EQ(gain.products_ns, 900);
  EXPECT_DOUBLE_EQ(gain.saved_ns, 120) << "a fifth of 600; the slower kernel is not used";
  EXPECT_EQ(
      gain_text(gain, "cuBLAS"),
      "2 products, 90 % of the recorded time: expected saving 12.0 % of it (cuBLAS is fastest "
      "at 1); 1 product without a final round\n");
}

TEST(RecordedGain, CountsTheTimeOfWhatCannotBeTuned) {
  const std::vector<RecordedCalls> calls = {
      {.device = "", .products = {product(1, 500), product(2, 500, "e5m2")}}};
  const RecordedGain gain = recorded_gain(calls, confirmed({{{1, 8, 8}, 2}}));
  EXPECT_EQ(gain_text(gain, "cuBLAS"),
            "1 product, 50 % of the recorded time: expected saving 25.0 % of it\n");
}

TEST(RecordedGain, SaysNothingWithoutProductsAndThatTimesAreMissing) {
  EXPECT_EQ(gain_text(recorded_gain({}, {}), ""), "");
  RecordedProduct captured = product(1, 0);
  captured.timed = 0;
  const std::vector<RecordedCalls> calls = {{.device = "", .products = {captured}}};
  EXPECT_EQ(gain_text(recorded_gain(calls, confirmed({{{1, 8, 8}, 2}})), ""),
            "1 product; the recording has no times\n");
}

}  // namespace
}  // namespace tuner::cli
