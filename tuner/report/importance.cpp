// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/importance.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <span>

namespace tuner::report {
namespace {

constexpr std::size_t kGroups = 20;
constexpr std::size_t kNoPlace = std::numeric_limits<std::size_t>::max();
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

Sums total_of(const Groups& groups) {
  Sums total;
  for (const Sums& sums : groups) {
    total = {total.count + sums.count, total.sum + sums.sum, total.squares + sums.squares};
  }
  return total;
}

/// Trials with a total, from which those of a group can be left out.
struct Grouped {
  Groups groups;
  Sums total;

  [[nodiscard]] Sums without(std::optional<std::size_t> group) const {
    return group ? total.without(groups[*group]) : total;
  }
};

/// The log times of a size's successful trials, summed for each value of each parameter.
struct SizeSums {
  Grouped all;
  std::vector<std::vector<Grouped>> values;  // by parameter
};

/// `first`: the number of successful trials of the sizes before, so that groups are equally large.
SizeSums sums_of(const KernelHistory& kernel, const SizeHistory& size, std::size_t first) {
  SizeSums sums;
  sums.values.resize(kernel.parameters.size());
  std::vector<std::vector<std::size_t>> places;  // of each value, once one was seen
  for (std::size_t i = 0; i < kernel.parameters.size(); ++i) {
    places.emplace_back(kernel.configs.places(i), kNoPlace);
  }
  std::optional<double> reference;
  for (const ReportedTrial& trial : size.evaluations) {
    if (!trial.time) continue;
    // Beside the first time, so that the sums of squares keep their digits.
    if (!reference) reference = trial.ranking_ns;
    const double log = std::log(trial.ranking_ns / *reference);
    const std::size_t group = first++ % kGroups;
    sums.all.groups[group].add(log);
    for (std::size_t i = 0; i < kernel.parameters.size(); ++i) {
      std::vector<Grouped>& values = sums.values[i];
      std::size_t& place = places[i][kernel.configs.place(trial.config, i)];
      if (place == kNoPlace) {
        place = values.size();
        values.emplace_back();
      }
      values[place].groups[group].add(log);
    }
  }
  sums.all.total = total_of(sums.all.groups);
  for (auto& values : sums.values) {
    for (Grouped& value : values) value.total = total_of(value.groups);
  }
  return sums;
}

/// What a parameter explains of the variance within sizes.
struct Explained {
  double share = 0;
  double trials = 0;  // of the sizes that tell something
};

Explained explained(std::span<const SizeSums> sizes, std::size_t parameter,
                    std::optional<std::size_t> left_out) {
  double within = 0, total = 0, free_within = 0, free_total = 0, trials = 0;
  for (const SizeSums& size : sizes) {
    const Sums all = size.all.without(left_out);
    double deviation = 0, taken = 0;
    for (const Grouped& value : size.values[parameter]) {
      const Sums sums = value.without(left_out);
      if (sums.count < 0.5) continue;
      deviation += sums.deviation();
      taken += 1;
    }
    if (taken < 1.5 || all.count < taken + 0.5) continue;
    within += deviation;
    total += all.deviation();
    free_within += all.count - taken;
    free_total += all.count - 1;
    trials += all.count;
  }
  if (total <= 1e-12) return {.trials = trials};
  const double rest = within / free_within / (total / free_total);
  return {.share = std::clamp(1 - rest, 0.0, 1.0), .trials = trials};
}

/// None where the parameter took no two values among enough trials.
std::optional<Importance> importance(std::span<const SizeSums> sizes, std::size_t parameter) {
  const Explained whole = explained(sizes, parameter, {});
  if (whole.trials < kFewestTrials - 0.5) return std::nullopt;
  std::array<double, kGroups> shares{};
  double mean = 0;
  for (std::size_t group = 0; group < kGroups; ++group) {
    shares[group] = explained(sizes, parameter, group).share;
    mean += shares[group] / kGroups;
  }
  double spread = 0;
  for (const double share : shares) spread += (share - mean) * (share - mean);
  const double half = kStudent * std::sqrt(spread * (kGroups - 1.0) / kGroups);
  return Importance{.parameter = parameter,
                    .share = whole.share,
                    .low = std::max(0.0, whole.share - half),
                    .high = std::min(1.0, whole.share + half)};
}

Importances importances(std::span<const SizeSums> sizes, std::size_t parameters) {
  double trials = 0, deviation = 0;
  for (const SizeSums& size : sizes) {
    trials += size.all.total.count;
    deviation += size.all.total.deviation();
  }
  if (trials < kFewestTrials - 0.5 || deviation <= 1e-12) return std::nullopt;
  std::vector<Importance> found;
  for (std::size_t parameter = 0; parameter < parameters; ++parameter) {
    if (const auto one = importance(sizes, parameter)) found.push_back(*one);
  }
  std::ranges::stable_sort(found, std::greater(), &Importance::share);
  return found;
}

}  // namespace

KernelImportances importances(const KernelHistory& kernel) {
  KernelImportances result;
  std::vector<SizeSums> sums;
  std::size_t first = 0;
  for (const SizeHistory& size : kernel.sizes) {
    sums.push_back(sums_of(kernel, size, first));
    first += static_cast<std::size_t>(sums.back().all.total.count);
    result.of_sizes.push_back(importances(std::span(&sums.back(), 1), kernel.parameters.size()));
  }
  result.over_sizes = importances(sums, kernel.parameters.size());
  return result;
}

std::uint64_t working_trials(const SizeHistory& size) {
  return static_cast<std::uint64_t>(std::ranges::count_if(
      size.evaluations, [](const ReportedTrial& it) { return it.time.has_value(); }));
}

}  // namespace tuner::report
