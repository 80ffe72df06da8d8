// SPDX-License-Identifier: Apache-2.0
#include "tuner/select/portfolio.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>

namespace tuner::select {
namespace {

/// Of a logarithm of a loss. Less is rounding.
constexpr double kLeastGain = 1e-9;

/// A matrix as logarithms of losses. What did not run, or is slower than an unserved size counts,
/// has the loss of one.
class LossTable {
 public:
  explicit LossTable(const TimeMatrix& matrix) : matrix_(matrix) {
    for (std::size_t size = 0; size < matrix.sizes(); ++size) shortest_.push_back(shortest(size));
  }

  [[nodiscard]] std::size_t candidates() const { return matrix_.candidates(); }
  [[nodiscard]] std::size_t sizes() const { return matrix_.sizes(); }
  [[nodiscard]] double weight(std::size_t size) const { return matrix_.weights[size]; }
  [[nodiscard]] bool ran(std::size_t candidate) const {
    return std::ranges::any_of(matrix_.times_ns[candidate],
                               [](const auto& ns) { return ns.has_value(); });
  }
  [[nodiscard]] double of(std::size_t candidate, std::size_t size) const {
    return loss(matrix_.times_ns[candidate][size], size);
  }
  [[nodiscard]] double of_library(std::size_t size) const {
    return loss(matrix_.library_ns[size], size);
  }

 private:
  [[nodiscard]] double shortest(std::size_t size) const {
    std::optional<double> least = matrix_.library_ns[size];
    for (const auto& times : matrix_.times_ns) {
      if (times[size]) least = std::min(least.value_or(*times[size]), *times[size]);
    }
    return least.value_or(1);
  }
  [[nodiscard]] double loss(const std::optional<double>& ns, std::size_t size) const {
    const double most = std::log(kUnservedLoss);
    return ns ? std::min(most, std::log(*ns / shortest_[size])) : most;
  }

  const TimeMatrix& matrix_;
  std::vector<double> shortest_;
};

/// Sizes at which portfolios are compared.
class Choice {
 public:
  Choice(const LossTable& table, std::vector<std::size_t> sizes)
      : table_(table), sizes_(std::move(sizes)) {
    for (const std::size_t size : sizes_) weight_ += table.weight(size);
  }

  [[nodiscard]] std::vector<std::size_t> members(std::size_t k) const {
    std::vector<std::size_t> members;
    do {
      while (add(members, k)) continue;
    } while (exchange(members));
    return in_order(members);
  }

  /// The logarithm of the loss of members, with the library.
  [[nodiscard]] double total(std::span<const std::size_t> members) const {
    double sum = 0;
    for (const std::size_t size : sizes_) sum += table_.weight(size) * served(members, size);
    return sum / weight_;
  }
  [[nodiscard]] double served(std::span<const std::size_t> members, std::size_t size) const {
    double least = table_.of_library(size);
    for (const std::size_t member : members) least = std::min(least, table_.of(member, size));
    return least;
  }

 private:
  /// By size, what the members and the library leave.
  [[nodiscard]] std::vector<double> served(std::span<const std::size_t> members) const {
    std::vector<double> losses;
    for (const std::size_t size : sizes_) losses.push_back(served(members, size));
    return losses;
  }

  /// The candidate that lowers `losses` most; none where none does.
  [[nodiscard]] std::optional<std::size_t> best_addition(const std::vector<double>& losses) const {
    std::optional<std::size_t> best;
    double most = kLeastGain;
    for (std::size_t candidate = 0; candidate < table_.candidates(); ++candidate) {
      const double its = gain(candidate, losses);
      if (its <= most) continue;
      most = its;
      best = candidate;
    }
    return best;
  }

  [[nodiscard]] double gain(std::size_t candidate, const std::vector<double>& losses) const {
    double sum = 0;
    for (std::size_t i = 0; i < sizes_.size(); ++i) {
      const double less = losses[i] - table_.of(candidate, sizes_[i]);
      if (less > 0) sum += table_.weight(sizes_[i]) * less;
    }
    return sum / weight_;
  }

  [[nodiscard]] bool add(std::vector<std::size_t>& members, std::size_t k) const {
    if (members.size() >= k) return false;
    const auto best = best_addition(served(members));
    if (best) members.push_back(*best);
    return best.has_value();
  }

  /// Puts the best candidate in the place of one member, if that lowers the loss.
  [[nodiscard]] bool exchange(std::vector<std::size_t>& members) const {
    const double before = total(members);
    for (std::size_t i = 0; i < members.size(); ++i) {
      std::vector<std::size_t> changed = members;
      changed.erase(changed.begin() + static_cast<std::ptrdiff_t>(i));
      const auto best = best_addition(served(changed));
      if (best) changed.push_back(*best);
      if (total(changed) >= before - kLeastGain) continue;
      members = std::move(changed);
      return true;
    }
    return false;
  }

  /// Each member after the one that gains more; members that gain nothing beside the others are
  /// left out.
  [[nodiscard]] std::vector<std::size_t> in_order(std::vector<std::size_t> members) const {
    std::vector<std::size_t> ordered;
    while (!members.empty()) {
      const std::vector<double> losses = served(ordered);
      const auto best = std::ranges::max_element(
          members, {}, [&](std::size_t member) { return gain(member, losses); });
      if (gain(*best, losses) <= kLeastGain) break;
      ordered.push_back(*best);
      members.erase(best);
    }
    return ordered;
  }

  const LossTable& table_;
  std::vector<std::size_t> sizes_;
  double weight_ = 0;
};

std::vector<std::size_t> all_sizes(const TimeMatrix& matrix) {
  std::vector<std::size_t> sizes(matrix.sizes());
  std::iota(sizes.begin(), sizes.end(), std::size_t{0});
  return sizes;
}

/// Where the library is nowhere slower, the candidate that comes nearest to it, of those that ran:
/// a program may ask for a kernel.
std::vector<std::size_t> nearest_candidate(const LossTable& table) {
  std::optional<std::size_t> nearest;
  double least = 0;
  for (std::size_t candidate = 0; candidate < table.candidates(); ++candidate) {
    if (!table.ran(candidate)) continue;
    double sum = 0;
    for (std::size_t size = 0; size < table.sizes(); ++size) {
      sum += table.weight(size) * table.of(candidate, size);
    }
    if (nearest && sum >= least) continue;
    nearest = candidate;
    least = sum;
  }
  return nearest ? std::vector{*nearest} : std::vector<std::size_t>{};
}

std::optional<double> library_loss(const TimeMatrix& matrix, const LossTable& table) {
  double sum = 0, weight = 0;
  for (std::size_t size = 0; size < matrix.sizes(); ++size) {
    if (!matrix.library_ns[size]) return std::nullopt;
    sum += table.weight(size) * table.of_library(size);
    weight += table.weight(size);
  }
  return std::exp(sum / weight);
}

}  // namespace

std::string types_of(const space::Size& size, const space::Dimensions& dims) {
  std::string types;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (dims[i].types.empty()) continue;
    types +=
        fmt::format("{}{}={}", types.empty() ? "" : ",", dims[i].name, dims[i].text_of(size[i]));
  }
  return types;
}

ChosenPortfolio choose_portfolio(const TimeMatrix& matrix, std::size_t k) {
  const LossTable table(matrix);
  const Choice choice(table, all_sizes(matrix));
  ChosenPortfolio chosen{.members = choice.members(k), .losses = {}, .losses_with = {}};
  if (chosen.members.empty()) chosen.members = nearest_candidate(table);
  for (std::size_t size = 0; size < matrix.sizes(); ++size) {
    chosen.losses.push_back(std::exp(choice.served(chosen.members, size)));
    const bool is_served =
        matrix.library_ns[size] || std::ranges::any_of(chosen.members, [&](std::size_t member) {
          return matrix.times_ns[member][size].has_value();
        });
    if (!is_served) ++chosen.unserved;
  }
  for (std::size_t count = 1; count <= chosen.members.size(); ++count) {
    chosen.losses_with.push_back(std::exp(choice.total(std::span(chosen.members).first(count))));
  }
  chosen.loss = std::exp(choice.total(chosen.members));
  chosen.library_loss = library_loss(matrix, table);
  return chosen;
}

std::optional<double> left_out_loss(const TimeMatrix& matrix, std::size_t k) {
  if (matrix.sizes() < 2) return std::nullopt;
  const LossTable table(matrix);
  double sum = 0, weight = 0;
  for (const std::size_t left_out : all_sizes(matrix)) {
    std::vector<std::size_t> others = all_sizes(matrix);
    std::erase(others, left_out);
    const Choice choice(table, std::move(others));
    sum += table.weight(left_out) * choice.served(choice.members(k), left_out);
    weight += table.weight(left_out);
  }
  return std::exp(sum / weight);
}

}  // namespace tuner::select
