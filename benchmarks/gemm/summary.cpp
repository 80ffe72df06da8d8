// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/gemm/summary.hpp"

#include <algorithm>
#include <cmath>

namespace tuner::gemm_benchmark {
namespace {

using Ratio = std::optional<measure::MedianInterval> ShapeResult::*;

std::optional<double> mean(std::span<const ShapeResult* const> shapes, Ratio ratio) {
  std::vector<double> values;
  for (const ShapeResult* shape : shapes) {
    if (shape->*ratio) values.push_back((shape->*ratio)->median);
  }
  return geometric_mean(values);
}

Means means(std::string group, std::span<const ShapeResult* const> shapes) {
  const auto tuned = std::ranges::count_if(
      shapes, [](const ShapeResult* shape) { return find(*shape, Role::ours) != nullptr; });
  return {.group = std::move(group),
          .shapes = shapes.size(),
          .tuned = static_cast<std::size_t>(tuned),
          .ours_to_cublas = mean(shapes, &ShapeResult::ours_to_cublas),
          .ours_to_cublas_lt = mean(shapes, &ShapeResult::ours_to_cublas_lt),
          .ours_to_default = mean(shapes, &ShapeResult::ours_to_default),
          .cublas_lt_to_cublas = mean(shapes, &ShapeResult::cublas_lt_to_cublas),
          .cublas_lt_to_default = mean(shapes, &ShapeResult::cublas_lt_to_default)};
}

/// All shapes, then each group.
std::vector<Means> all_means(const BenchmarkResult& result) {
  std::vector<std::string> groups;
  std::vector<const ShapeResult*> all;
  for (const ShapeResult& shape : result.shapes) {
    all.push_back(&shape);
    if (std::ranges::count(groups, shape.group) == 0) groups.push_back(shape.group);
  }
  std::vector<Means> found{means("", all)};
  for (const std::string& group : groups) {
    std::vector<const ShapeResult*> members = all;
    std::erase_if(members, [&](const ShapeResult* shape) { return shape->group != group; });
    found.push_back(means(group, members));
  }
  return found;
}

}  // namespace

std::optional<double> geometric_mean(std::span<const double> values) {
  if (values.empty()) return std::nullopt;
  double logarithms = 0;
  for (const double value : values) logarithms += std::log(value);
  return std::exp(logarithms / static_cast<double>(values.size()));
}

BenchmarkSummary summarise(const BenchmarkResult& result) {
  constexpr double kBehind = 0.97;
  BenchmarkSummary summary{.means = all_means(result), .worst = {}, .behind = {}, .wrong = {}};
  std::vector<Standing> standings;
  for (const ShapeResult& shape : result.shapes) {
    if (shape.ours_to_cublas) {
      standings.push_back({display(shape.shape), shape.ours_to_cublas->median});
    }
    if (shape.worst_difference && !(*shape.worst_difference <= 1)) {
      summary.wrong.push_back(display(shape.shape));
    }
  }
  std::ranges::stable_sort(standings, {}, &Standing::ours_to_cublas);
  if (!standings.empty()) summary.worst = standings.front();
  std::ranges::copy_if(standings, std::back_inserter(summary.behind),
                       [](const Standing& each) { return each.ours_to_cublas < kBehind; });
  return summary;
}

}  // namespace tuner::gemm_benchmark
