// SPDX-License-Identifier: Apache-2.0
#include "tuner/select/triangle.hpp"

#include <array>
#include <cmath>

namespace tuner::select {

double dot(std::span<const double> a, std::span<const double> b) {
  constexpr std::size_t kAtOnce = 4;
  std::array<double, kAtOnce> sums = {};
  std::size_t i = 0;
  for (; i + kAtOnce <= a.size(); i += kAtOnce) {
    for (std::size_t j = 0; j < kAtOnce; ++j) sums[j] += a[i + j] * b[i + j];
  }
  for (; i < a.size(); ++i) sums[0] += a[i] * b[i];
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

std::span<const double> Triangle::row(std::size_t i) const {
  return std::span(rows_).subspan(i * (i + 1) / 2, i + 1);
}

Triangle::Triangle(std::size_t count,
                   const std::function<double(std::size_t, std::size_t)>& covariance) {
  rows_.reserve(count * (count + 1) / 2);
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      const std::span<const double> own = std::span(rows_).last(j);
      if (j == i) {
        rows_.push_back(std::sqrt(covariance(i, i) - dot(own, own)));
      } else {
        const std::span<const double> other = row(j);
        rows_.push_back((covariance(i, j) - dot(own, other.first(j))) / other[j]);
      }
    }
  }
}

std::vector<double> Triangle::solve(std::span<const double> column) const {
  std::vector<double> solution;
  solution.reserve(column.size());
  for (std::size_t i = 0; i < column.size(); ++i) {
    const std::span<const double> its = row(i);
    solution.push_back((column[i] - dot(solution, its.first(i))) / its[i]);
  }
  return solution;
}

}  // namespace tuner::select
