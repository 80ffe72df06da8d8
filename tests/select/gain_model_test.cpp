// SPDX-License-Identifier: Apache-2.0
#include "tuner/select/gain_model.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace tuner::select {
namespace {

/// Sizes of one dimension, in distances of SizeFeatures.
std::vector<SizeFeatures> line(std::initializer_list<double> places) {
  std::vector<SizeFeatures> sizes;
  for (const double place : places) sizes.push_back({place});
  return sizes;
}

TEST(GainModel, IsSureNextToWhatWasTimedAndUnsureFarFromIt) {
  const std::vector<SizeFeatures> sizes = line({1, 2, 3});
  const std::vector<KnownGain> known = {{0, 0.4}, {1, 0.4}, {2, 0.4}};
  const ExpectedRatio near = GainModel(sizes, {2}).gain(known, 0, 0);
  EXPECT_NEAR(near.ln_ratio, 0.4, 0.02);
  EXPECT_LT(near.error, 0.15);
  const ExpectedRatio far = GainModel(sizes, {40}).gain(known, 0, 0);
  EXPECT_LT(far.ln_ratio, 0.1);
  EXPECT_GT(far.error, 0.3);
}

TEST(GainModel, ExpectsNoGainOfWhatWasNeverTimed) {
  const ExpectedRatio unknown = GainModel(line({1, 2}), {2}).gain({}, 0, 0);
  EXPECT_EQ(unknown.ln_ratio, 0);
  EXPECT_GT(unknown.error, 0.3);
}

TEST(GainModel, AWaveThatIsNotFullCostsWhatItDidElsewhere) {
  // The gain is 0.2 - imbalance, whatever the size.
  std::vector<SizeFeatures> sizes;
  std::vector<KnownGain> known;
  for (std::size_t i = 0; i < 12; ++i) {
    const double imbalance = i % 3 == 0 ? 0.6 : 0.1 * static_cast<double>(i % 3);
    sizes.push_back({0.5 * static_cast<double>(i)});
    known.push_back({.size = i, .ln_gain = 0.2 - imbalance, .imbalance = imbalance});
  }
  const GainModel model(sizes, {2.75});
  EXPECT_NEAR(model.gain(known, 0, 0).ln_ratio, 0.2, 0.05);
  EXPECT_NEAR(model.gain(known, 0.6, 0).ln_ratio, -0.4, 0.05);
}

TEST(GainModel, WhatWorkTellsHoldsFarFromTheTimedSizesToo) {
  const std::vector<SizeFeatures> sizes = line({1, 2, 3});
  const std::vector<KnownGain> known = {{0, 0.5, 0, 0.2}, {1, 0.4, 0, 0.1}, {2, 0.3, 0, 0}};
  EXPECT_NEAR(GainModel(sizes, {2}).gain(known, 0, 0.1).ln_ratio, 0.4, 0.02);
  EXPECT_NEAR(GainModel(sizes, {60}).gain(known, 0, -0.6).ln_ratio, -0.6, 0.1);
}

TEST(GainModel, IsSurerWhereGainsDoNotJump) {
  std::vector<SizeFeatures> sizes;
  std::vector<KnownGain> steady, jumping;
  for (std::size_t i = 0; i < 40; ++i) {
    sizes.push_back({0.2 * static_cast<double>(i)});
    steady.push_back({.size = i, .ln_gain = 0.2});
    jumping.push_back({.size = i, .ln_gain = i % 2 == 0 ? 0.5 : -0.1});
  }
  const GainModel model(sizes, {3.9});
  EXPECT_LT(model.gain(steady, 0, 0).error, 0.6 * model.gain(jumping, 0, 0).error);
}

TEST(GainModel, ATimeGrowsAsAPowerOfADimensionBeyondTheTimedSizes) {
  const std::vector<SizeFeatures> sizes = line({1, 2, 3, 4});
  const std::vector<double> ln_ns = {9, 11, 13, 15};
  EXPECT_NEAR(GainModel(sizes, {2.5}).power_law(ln_ns).ln_ratio, 12, 0.05);
  const ExpectedRatio beyond = GainModel(sizes, {6}).power_law(ln_ns);
  EXPECT_NEAR(beyond.ln_ratio, 19, 0.5);
  EXPECT_GT(beyond.error, 2 * GainModel(sizes, {2.5}).power_law(ln_ns).error);
}

TEST(GainModel, OfManySizesTheNearestCount) {
  std::vector<SizeFeatures> sizes;
  std::vector<KnownGain> known;
  for (std::size_t i = 0; i < 200; ++i) {
    sizes.push_back({0.05 * static_cast<double>(i)});
    known.push_back({.size = i, .ln_gain = i < 100 ? 0.3 : -0.3});
  }
  EXPECT_NEAR(GainModel(sizes, {1}).gain(known, 0, 0).ln_ratio, 0.3, 0.02);
  EXPECT_NEAR(GainModel(sizes, {9}).gain(known, 0, 0).ln_ratio, -0.3, 0.02);
}

}  // namespace
}  // namespace tuner::select
