// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

namespace tuner::select {

/// The sum of products, in an order that lets four of them go at once; as many elements of each.
[[nodiscard]] double dot(std::span<const double> a, std::span<const double> b);

/// The lower triangle L of a covariance matrix L·Lᵀ (Cholesky). With k the covariances of one more
/// value with those of the matrix, and y what these were found to be, that value is expected to be
/// (L⁻¹k)·(L⁻¹y), and (L⁻¹k)·(L⁻¹k) of its variance is known.
class Triangle {
 public:
  /// Of `count` values; `covariance(i, j)` is asked for j <= i and is positive definite.
  Triangle(std::size_t count, const std::function<double(std::size_t, std::size_t)>& covariance);

  /// L⁻¹ times a column.
  [[nodiscard]] std::vector<double> solve(std::span<const double> column) const;

 private:
  [[nodiscard]] std::span<const double> row(std::size_t i) const;  // with the diagonal

  std::vector<double> rows_;  // one after the other
};

}  // namespace tuner::select
