// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/select/random_sizes.hpp"

#include "tuner/core/json.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <random>

namespace tuner::gemm_benchmark {
namespace {

constexpr double kLeast = 16;
constexpr double kMost = 8192;

/// Not std::uniform_real_distribution, whose numbers are each library's own.
std::int64_t extent(std::mt19937_64& random) {
  const double share = static_cast<double>(random() >> 11) * 0x1p-53;
  return std::llround(kLeast * std::pow(kMost / kLeast, share));
}

Json group(const char* name, const char* doc, std::span<const Shape> shapes) {
  Json sizes = Json::array();
  for (const Shape& shape : shapes) sizes.push_back({shape.m, shape.n, shape.k});
  return {{"name", name}, {"doc", doc}, {"sizes", std::move(sizes)}};
}

}  // namespace

std::vector<Shape> random_shapes(std::size_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<Shape> shapes;
  while (shapes.size() < count) {
    const std::int64_t m = extent(random);
    const std::int64_t n = extent(random);
    const std::int64_t k = extent(random);
    const Shape shape = parse_shape(fmt::format("{},{},{}", m, n, k));
    if (std::ranges::find(shapes, shape) == shapes.end()) shapes.push_back(shape);
  }
  return shapes;
}

std::string random_suite(std::span<const Shape> shapes, std::uint64_t seed) {
  const std::size_t first = std::min(kRegretSizes, shapes.size());
  Json groups = Json::array();
  groups.push_back(
      group("regret", "tuned, to see what choosing without costs", shapes.first(first)));
  if (first < shapes.size()) {
    groups.push_back(group("others", "chosen for, never tuned", shapes.subspan(first)));
  }
  const Json suite = {
      {"format", "suite/1"},
      {"family", "gemm"},
      {"doc", fmt::format("Random sizes, log-uniform from {} to {} in each dimension, seed {} "
                          "(random_sizes_benchmark --write-sizes).",
                          kLeast, kMost, seed)},
      {"groups", std::move(groups)}};
  return suite.dump(1) + '\n';
}

}  // namespace tuner::gemm_benchmark
