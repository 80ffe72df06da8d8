// SPDX-License-Identifier: Apache-2.0
#include "tuner/lab/monotone_fit.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace tuner::lab {
namespace {

/// The interval of the curve that x lies in, or the outermost one.
std::size_t interval(const FittedCurve& curve, double x) {
  const auto after = std::ranges::upper_bound(curve.x, x);
  const auto place = after - curve.x.begin() - 1;
  return static_cast<std::size_t>(std::clamp<std::ptrdiff_t>(place, 0, std::ssize(curve.x) - 2));
}

bool same_sign(double a, double b) {
  return (a > 0 && b > 0) || (a < 0 && b < 0);
}

/// The slope at an end, from the widths and the slopes of the two intervals beside it.
double end_slope(double width, double next_width, double slope, double next_slope) {
  const double three_point =
      ((2 * width + next_width) * slope - width * next_slope) / (width + next_width);
  if (!same_sign(three_point, slope)) return 0;
  const bool turns = !same_sign(slope, next_slope);
  return turns && std::abs(three_point) > 3 * std::abs(slope) ? 3 * slope : three_point;
}

std::vector<double> slopes(const FittedCurve& curve, std::span<const double> width,
                           std::span<const double> secant) {
  const std::size_t n = curve.x.size();
  if (n == 2) return {secant[0], secant[0]};
  std::vector<double> slope(n);
  for (std::size_t i = 1; i + 1 < n; ++i) {
    if (!same_sign(secant[i - 1], secant[i])) continue;
    const double before = 2 * width[i] + width[i - 1];
    const double after = width[i] + 2 * width[i - 1];
    slope[i] = (before + after) / (before / secant[i - 1] + after / secant[i]);
  }
  slope[0] = end_slope(width[0], width[1], secant[0], secant[1]);
  slope[n - 1] = end_slope(width[n - 2], width[n - 3], secant[n - 2], secant[n - 3]);
  return slope;
}

/// Neighbouring points that share a value.
struct Pool {
  double mean = 0;
  double weight = 0;
  std::size_t points = 0;
};

/// Merges the last pools until none rises above the one before it.
void merge_rising(std::vector<Pool>& pools) {
  while (pools.size() > 1 && pools[pools.size() - 2].mean < pools.back().mean) {
    const Pool last = pools.back();
    pools.pop_back();
    Pool& pool = pools.back();
    const double weight = pool.weight + last.weight;
    pool.mean = (pool.mean * pool.weight + last.mean * last.weight) / weight;
    pool.weight = weight;
    pool.points += last.points;
  }
}

}  // namespace

std::vector<double> evenly_spaced(double first, double last, std::size_t count) {
  const double step = (last - first) / static_cast<double>(count - 1);
  std::vector<double> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = first + static_cast<double>(i) * step;
  values.back() = last;
  return values;
}

std::vector<double> interpolate_linearly(const FittedCurve& curve, std::span<const double> at) {
  std::vector<double> values;
  values.reserve(at.size());
  for (const double x : at) {
    if (x <= curve.x.front()) {
      values.push_back(curve.y.front());
    } else if (x >= curve.x.back()) {
      values.push_back(curve.y.back());
    } else {
      const std::size_t i = interval(curve, x);
      const double share = (x - curve.x[i]) / (curve.x[i + 1] - curve.x[i]);
      values.push_back(curve.y[i] + share * (curve.y[i + 1] - curve.y[i]));
    }
  }
  return values;
}

std::vector<double> interpolate_monotonely(const FittedCurve& curve, std::span<const double> at) {
  std::vector<double> width;
  std::vector<double> secant;
  for (std::size_t i = 0; i + 1 < curve.x.size(); ++i) {
    width.push_back(curve.x[i + 1] - curve.x[i]);
    secant.push_back((curve.y[i + 1] - curve.y[i]) / width[i]);
  }
  const std::vector<double> slope = slopes(curve, width, secant);
  std::vector<double> values;
  values.reserve(at.size());
  for (const double x : at) {
    const std::size_t i = interval(curve, x);
    const double t = (x - curve.x[i]) / width[i];
    const double u = 1 - t;
    values.push_back(curve.y[i] * (1 + 2 * t) * u * u + width[i] * slope[i] * t * u * u +
                     curve.y[i + 1] * t * t * (3 - 2 * t) - width[i] * slope[i + 1] * t * t * u);
  }
  return values;
}

FittedCurve falling_fit(std::span<const double> x, std::span<const double> y) {
  std::vector<std::size_t> order(x.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t i) { return x[i]; });
  FittedCurve fit;
  std::vector<Pool> pools;
  for (std::size_t begin = 0, end = 0; begin < order.size(); begin = end) {
    double sum = 0;
    for (; end < order.size() && x[order[end]] == x[order[begin]]; ++end) sum += y[order[end]];
    const auto weight = static_cast<double>(end - begin);
    fit.x.push_back(x[order[begin]]);
    pools.push_back({.mean = sum / weight, .weight = weight, .points = 1});
    merge_rising(pools);
  }
  for (const Pool& pool : pools) fit.y.insert(fit.y.end(), pool.points, pool.mean);
  return fit;
}

}  // namespace tuner::lab
