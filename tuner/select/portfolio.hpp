// SPDX-License-Identifier: Apache-2.0
// Which few configurations serve many sizes best (docs/reference/portfolios.md).
#pragma once

#include "tuner/space/size.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace tuner::select {

/// The types that a size names, for which it has a portfolio of its own: "TYPE=bf16"; empty where
/// the dimensions have none.
[[nodiscard]] std::string types_of(const space::Size& size, const space::Dimensions& dims);

/// How long each candidate takes at each size.
struct TimeMatrix {
  /// By candidate, then size; absent where the candidate did not run.
  std::vector<std::vector<std::optional<double>>> times_ns;
  std::vector<std::optional<double>> library_ns;  ///< by size; absent where there is none
  std::vector<double> weights;                    ///< by size, positive

  [[nodiscard]] std::size_t candidates() const { return times_ns.size(); }
  [[nodiscard]] std::size_t sizes() const { return weights.size(); }
};

/// A loss is a time over the shortest one that is known for its size, so 1 is none. Of several
/// sizes it is the geometric mean by their weights. A size counts with the fastest member or the
/// library; one that neither serves counts as kUnservedLoss.
inline constexpr double kUnservedLoss = 10;

struct ChosenPortfolio {
  std::vector<std::size_t> members;  ///< candidates, each after those that gain more
  std::vector<double> losses;        ///< by size
  std::vector<double> losses_with;   ///< of all sizes with the members up to each
  double loss = 1;                   ///< of all sizes
  /// The library alone likewise; absent where some size has no time of the library.
  std::optional<double> library_loss = {};
  std::size_t unserved = 0;  ///< sizes that neither a member nor the library serves
};

/// At most `k` candidates with the least loss together: greedily, then by exchanges of a member for
/// a candidate while that lowers the loss. A candidate that lowers it no more is no member: there
/// may be fewer than `k`, and one at least where any candidate ran. Deterministic.
[[nodiscard]] ChosenPortfolio choose_portfolio(const TimeMatrix& matrix, std::size_t k);

/// The loss at sizes that did not take part in the choice: each size is left out in turn, and the
/// portfolio of the others serves it. None with fewer than two sizes.
[[nodiscard]] std::optional<double> left_out_loss(const TimeMatrix& matrix, std::size_t k);

}  // namespace tuner::select
