// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/importance.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string>

namespace tuner::report {
namespace {

constexpr std::size_t kGroups = 20;
constexpr double kStudent = 2.093;  // of 95 %, 19 degrees of freedom

/// Number and sums of log times.
struct Sums {
  double count = 0, sum = 0, squares = 0;

  void add(double value) {
    count += 1;
    sum += value;
    squares += value * value;
  }
  [[nodiscard]] Sums without(const Sums& part) const {
    return {count - part.count, sum - part.sum, squares - part.squares};
  }
  /// Of the squares of the distances from the mean.
  [[nodiscard]] double deviation() const {
    return count > 0 ? std::max(0.0, squares - sum * sum / count) : 0.0;
  }
};

/// The sums of each group of trials.
using Groups = std::array<Sums, kGroups>;

/// `values` holds the sums of each of a parameter's values, `all` those of all trials; without the
/// trials of one group, where one is named.
double explained(const std::vector<Groups>& values, const std::vector<Sums>& totals,
                 const Sums& all, std::optional<std::size_t> left_out) {
  double within = 0, taken = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const Sums sums = left_out ? totals[i].without(values[i][*left_out]) : totals[i];
    if (sums.count < 0.5) continue;
    within += sums.deviation();
    taken += 1;
  }
  const double total = all.deviation();
  if (total <= 0 || all.count <= taken) return 0;
  const double unbiased = within / (all.count - taken) * (all.count - 1);
  return std::clamp(1 - unbiased / total, 0.0, 1.0);
}

Importance importance(std::size_t parameter, const std::vector<Groups>& values,
                      const Groups& groups, const Sums& all) {
  std::vector<Sums> totals;
  for (const Groups& of_value : values) {
    Sums total;
    for (const Sums& sums : of_value) {
      total = {total.count + sums.count, total.sum + sums.sum, total.squares + sums.squares};
    }
    totals.push_back(total);
  }
  Importance result{.parameter = parameter};
  result.share = explained(values, totals, all, {});
  std::array<double, kGroups> shares{};
  double mean = 0;
  for (std::size_t group = 0; group < kGroups; ++group) {
    shares[group] = explained(values, totals, all.without(groups[group]), group);
    mean += shares[group] / kGroups;
  }
  double spread = 0;
  for (const double share : shares) spread += (share - mean) * (share - mean);
  const double half = kStudent * std::sqrt(spread * (kGroups - 1.0) / kGroups);
  result.low = std::max(0.0, result.share - half);
  result.high = std::min(1.0, result.share + half);
  return result;
}

}  // namespace

Importances importances(const KernelHistory& kernel, const SizeHistory& size) {
  std::vector<const ReportedTrial*> trials;
  for (const ReportedTrial& trial : size.evaluations) {
    if (trial.trial.time) trials.push_back(&trial);
  }
  if (trials.size() < kFewestTrials) return std::nullopt;
  // Beside the first time, so that the sums of squares keep their digits.
  const double reference = trials.front()->trial.time->median_ns;
  std::vector<double> logs;
  logs.reserve(trials.size());
  Groups groups;
  Sums all;
  for (std::size_t i = 0; i < trials.size(); ++i) {
    logs.push_back(std::log(trials[i]->trial.time->median_ns / reference));
    groups[i % kGroups].add(logs[i]);
    all.add(logs[i]);
  }
  if (all.deviation() <= 1e-12) return std::nullopt;

  std::vector<Importance> found;
  for (std::size_t parameter = 0; parameter < kernel.parameters.size(); ++parameter) {
    std::map<std::string_view, std::size_t> places;
    std::vector<Groups> values;
    for (std::size_t i = 0; i < trials.size(); ++i) {
      const auto place = places.try_emplace(trials[i]->values[parameter], values.size());
      if (place.second) values.emplace_back();
      values[place.first->second][i % kGroups].add(logs[i]);
    }
    if (values.size() > 1) found.push_back(importance(parameter, values, groups, all));
  }
  std::ranges::stable_sort(found, std::greater(), &Importance::share);
  return found;
}

}  // namespace tuner::report
