// SPDX-License-Identifier: Apache-2.0
#include "tuner/search/covariance.hpp"

#include "tests/search/example_space.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <memory>

namespace tuner::search {
namespace {

TEST(Axes, PlaceTilesByTheirLogarithmAndLeaveOutWhatDoesNotVary) {
  const Json kernel = parse_json(R"({"parameters": {
    "TILE": {"values": [8, 16, 64], "default": 8},
    "FIXED": {"values": [3], "default": 3},
    "PAD": {"values": [0, 1, 4], "default": 0},
    "LAYOUT": {"values": ["row", "column", "xor"], "default": "row"}}})",
                                 "example");
  const space::SpaceDefinition definition = space::parse_space_definition(kernel, {}, "example");
  const Axes axes(definition);
  ASSERT_EQ(axes.count(), 3U);
  const auto places = [&](std::size_t axis) {
    const auto span = axes.places(axis);
    return std::vector<double>(span.begin(), span.end());
  };
  EXPECT_EQ(places(0), (std::vector<double>{0, 1.0 / 3, 1}));
  EXPECT_EQ(places(1), (std::vector<double>{0, 0.25, 1}));
  EXPECT_EQ(places(2), (std::vector<double>{0, 0.5, 1}));
  EXPECT_EQ(axes.point(space::Config{{2, 0, 1, 2}}), (Point{2, 1, 2}));
}

TEST(Covariance, IsTheSumOfItsTerms) {
  const space::Space space = free_space(3, 3);
  const Axes axes(space.definition());
  const Covariance covariance(
      axes, Correlation::exponential,
      {.log_lengths = {0, std::log(2.0), std::log(0.5)}, .additive = 0.6, .noise = 0.1});
  // Places of 1, 2, 3 on a logarithmic axis: 0, 0.63…, 1.
  const double a = std::exp(-1.0);
  const double b = 1;
  const double c = std::exp(-(1 - std::log2(2.0) / std::log2(3.0)) / 0.5);
  const double expected =
      0.4 * a * b * c + 0.3 * (a + b + c) / 3 + 0.3 * (a * b + a * c + b * c) / 3;
  EXPECT_NEAR(covariance.between(Point{0, 1, 1}, Point{2, 1, 2}), expected, 1e-6);
  EXPECT_NEAR(covariance.between(Point{2, 1, 2}, Point{0, 1, 1}), expected, 1e-6);
  EXPECT_NEAR(covariance.between(Point{1, 0, 2}, Point{1, 0, 2}), 1, 1e-6);
  EXPECT_EQ(covariance.noise(), 0.1);
}

TEST(Covariance, OfMaternIsSmoothAtZero) {
  const space::Space space = free_space(1, 101);
  const Axes axes(space.definition());
  const Hyperparameters h{.log_lengths = {0}, .additive = 0};
  const Covariance smooth(axes, Correlation::matern52, h);
  const Covariance rough(axes, Correlation::exponential, h);
  const double distance = axes.places(0)[100] - axes.places(0)[99];
  EXPECT_NEAR(1 - rough.between(Point{99}, Point{100}), distance, 1e-4);
  EXPECT_LT(1 - smooth.between(Point{99}, Point{100}), 2 * distance * distance);
}

}  // namespace
}  // namespace tuner::search
