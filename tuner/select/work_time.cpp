// SPDX-License-Identifier: Apache-2.0
#include "tuner/select/work_time.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>

namespace tuner::select {
namespace {

constexpr std::size_t kParts = 3;  // fixed, of flops, of bytes
using Parts = std::array<double, kParts>;

/// How many times the others count together; of 1 to 20, gains at left-out sizes hardly depend on
/// it.
constexpr double kOthersWeight = 10;

/// The sum of squares xᵀGx - 2xᵀh + constant.
struct Squares {
  std::array<Parts, kParts> g = {};
  Parts h = {};

  void add(const Parts& row, double value, double weight) {
    for (std::size_t i = 0; i < kParts; ++i) {
      for (std::size_t j = 0; j < kParts; ++j) g[i][j] += weight * row[i] * row[j];
      h[i] += weight * row[i] * value;
    }
  }

  [[nodiscard]] double at(const Parts& x) const {
    double sum = 0;
    for (std::size_t i = 0; i < kParts; ++i) {
      for (std::size_t j = 0; j < kParts; ++j) sum += x[i] * g[i][j] * x[j];
      sum -= 2 * x[i] * h[i];
    }
    return sum;
  }

  /// The least with all parts 0 but those of `set`, by Gauss's elimination; NaN or infinite where
  /// these do not determine it.
  [[nodiscard]] Parts least_with(unsigned set) const {
    std::array<Parts, kParts> a = g;
    Parts x = h;
    for (std::size_t i = 0; i < kParts; ++i) {
      if ((set >> i & 1U) != 0) continue;
      for (std::size_t j = 0; j < kParts; ++j) a[i][j] = a[j][i] = 0;
      a[i][i] = 1;
      x[i] = 0;
    }
    for (std::size_t i = 0; i < kParts; ++i) {
      for (std::size_t j = i + 1; j < kParts; ++j) {
        const double factor = a[j][i] / a[i][i];
        for (std::size_t k = i; k < kParts; ++k) a[j][k] -= factor * a[i][k];
        x[j] -= factor * x[i];
      }
    }
    for (std::size_t i = kParts; i-- > 0;) {
      for (std::size_t j = i + 1; j < kParts; ++j) x[i] -= a[i][j] * x[j];
      x[i] /= a[i][i];
    }
    return x;
  }
};

Parts parts_of(const Work& work) {
  return {1, work.flops, work.bytes};
}

}  // namespace

WorkTime fit_work_time(std::span<const TimedWork> times, std::span<const TimedWork> others) {
  Parts scale = {};  // the largest share of a time, so that all parts are about 1
  for (const std::span<const TimedWork> set : {times, others}) {
    for (const TimedWork& it : set) {
      const Parts parts = parts_of(it.work);
      for (std::size_t i = 0; i < kParts; ++i) scale[i] = std::max(scale[i], parts[i] / it.ns);
    }
  }
  for (double& it : scale) it = it > 0 ? it : 1;
  Squares squares;
  const auto add = [&](const TimedWork& it, double weight) {
    Parts row = parts_of(it.work);
    for (std::size_t i = 0; i < kParts; ++i) row[i] /= it.ns * scale[i];
    squares.add(row, 1, weight);
  };
  for (const TimedWork& it : times) add(it, 1);
  const double others_weight = kOthersWeight / static_cast<double>(others.size());
  for (const TimedWork& it : others) add(it, others_weight);
  // Of all subsets of the parts, the best one whose parts are positive is the least.
  Parts best = {1, 0, 0};
  double least = std::numeric_limits<double>::infinity();
  for (unsigned set = 1; set < 1U << kParts; ++set) {
    const Parts x = squares.least_with(set);
    const bool is_allowed =
        std::ranges::all_of(x, [](double it) { return std::isfinite(it) && it >= 0; });
    if (const double sum = squares.at(x); is_allowed && sum < least) {
      least = sum;
      best = x;
    }
  }
  for (std::size_t i = 0; i < kParts; ++i) best[i] /= scale[i];
  return {.fixed_ns = best[0], .ns_per_flop = best[1], .ns_per_byte = best[2]};
}

}  // namespace tuner::select
