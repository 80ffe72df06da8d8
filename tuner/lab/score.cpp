// SPDX-License-Identifier: Apache-2.0
#include "tuner/lab/score.hpp"

#include "tuner/core/error.hpp"
#include "tuner/core/quantile.hpp"
#include "tuner/lab/monotone_fit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace tuner::lab {
namespace {

constexpr double kStart = 0.01;  // the first instant: random search this far from median to optimum
constexpr double kEnd = 0.95;    // the last
constexpr std::size_t kInstants = 1000;
constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

double mean(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

/// Of at least one value.
double median(std::span<const double> values) {
  return *quantile(values, 0.5);
}

/// The results of one run in the terms of the scale.
struct Progress {
  std::vector<double> elapsed_s;  // from the first result that ended ok
  std::vector<double> rank;       // of the best so far among all values
};

Progress progress(const Trace& run, std::span<const double> value, std::span<const double> sorted) {
  Progress progress;
  double best = kNone;
  for (std::size_t i = 0; i < run.trials.size(); ++i) {
    best = std::fmin(best, value[run.trials[i]]);
    if (std::isnan(best)) continue;
    const auto rank = std::ranges::lower_bound(sorted, best) - sorted.begin();
    progress.elapsed_s.push_back(run.elapsed_s[i]);
    progress.rank.push_back(static_cast<double>(rank));
  }
  return progress;
}

/// Those whose time lies within 10 % of the instants, of all runs together.
Progress pooled(std::span<const Progress> runs, std::span<const double> times) {
  Progress pool;
  for (const Progress& run : runs) {
    for (std::size_t i = 0; i < run.elapsed_s.size(); ++i) {
      const double elapsed_s = run.elapsed_s[i];
      if (elapsed_s < times.front() * 0.9 || elapsed_s > times.back() * 1.1) continue;
      pool.elapsed_s.push_back(elapsed_s);
      pool.rank.push_back(run.rank[i]);
    }
  }
  if (pool.rank.empty()) {
    throw Error(ErrorCode::usage,
                fmt::format("there is nothing to score: no run has a result between {:.3g} s and "
                            "{:.3g} s; give them more time or evaluations",
                            times.front() * 0.9, times.back() * 1.1));
  }
  return pool;
}

}  // namespace

std::vector<double> trial_costs_s(const interop::Recording& recording) {
  const bool any = std::ranges::any_of(recording.trials, [](const interop::RecordedTrial& trial) {
    return trial.cost_s.has_value();
  });
  std::vector<double> costs_s;
  costs_s.reserve(recording.trials.size());
  for (const interop::RecordedTrial& trial : recording.trials) {
    costs_s.push_back(any ? trial.cost_s.value_or(0) : 1);
  }
  return costs_s;
}

Scale::Scale(const interop::Recording& recording) {
  for (const interop::RecordedTrial& trial : recording.trials) {
    const bool ok = trial.outcome == Outcome::ok && trial.time_ms.has_value();
    value_.push_back(ok ? *trial.time_ms : kNone);
    if (ok) sorted_.push_back(*trial.time_ms);
  }
  if (sorted_.empty()) {
    throw Error(ErrorCode::usage, "nothing in the recording ended ok: there is no best to find");
  }
  std::ranges::sort(sorted_);
  median_ = median(sorted_);
  const Costs costs = this->costs(recording);
  const double first_s = time_at(kStart, costs.median_s);
  const double last_s = time_at(kEnd, costs.median_s);
  times_ = evenly_spaced(first_s, last_s > first_s ? last_s : first_s + costs.median_s, kInstants);
  expected_ = random_search(costs.draw_s);
}

Scale::Costs Scale::costs(const interop::Recording& recording) const {
  const bool any = std::ranges::any_of(recording.trials, [](const interop::RecordedTrial& trial) {
    return trial.cost_s.has_value();
  });
  std::vector<double> all;
  std::vector<double> of_ok;
  std::vector<double> of_failed;
  for (std::size_t i = 0; i < value_.size(); ++i) {
    const auto cost_s = any ? recording.trials[i].cost_s : std::optional(1.0);
    if (!cost_s) continue;
    all.push_back(*cost_s);
    (std::isnan(value_[i]) ? of_failed : of_ok).push_back(*cost_s);
  }
  Costs costs{.median_s = median(all), .draw_s = of_ok.empty() ? 0 : mean(of_ok)};
  if (!of_failed.empty()) {
    const auto failed = static_cast<double>(value_.size() - sorted_.size());
    costs.draw_s += failed / static_cast<double>(value_.size()) * mean(of_failed);
  }
  return costs;
}

double Scale::time_at(double share, double median_cost_s) const {
  const double target = sorted_.front() + (median_ - sorted_.front()) * (1 - share);
  const auto reaching = std::ranges::upper_bound(sorted_, target) - sorted_.begin();
  const auto worse = static_cast<double>(std::ssize(sorted_) - reaching);
  return std::ceil(worse / static_cast<double>(reaching + 1)) * median_cost_s;
}

std::vector<double> Scale::random_search(double draw_s) const {
  const auto n = static_cast<double>(sorted_.size());
  FittedCurve curve;
  std::vector<double> values;
  for (const double time_s : times_) {
    // Of k draws the best is expected to be better than all but a share 1 / (k + 1).
    const double draws = std::nearbyint(std::max(time_s / draw_s, 1.0));
    const double worse = std::min(n - 1, std::nearbyint(draws * (n + 1) / (draws + 1)));
    values.push_back(sorted_[sorted_.size() - 1 - static_cast<std::size_t>(worse)]);
    if (!curve.x.empty() && draws <= curve.x.back()) continue;
    curve.x.push_back(draws);
    curve.y.push_back(values.back());
  }
  if (curve.x.size() < 2) return values;
  return interpolate_monotonely(curve, evenly_spaced(curve.x.front(), curve.x.back(), kInstants));
}

std::vector<double> Scale::typical_best(std::span<const Trace> runs) const {
  std::vector<Progress> known;
  std::vector<double> ends_s;
  for (const Trace& run : runs) {
    known.push_back(progress(run, value_, sorted_));
    if (!known.back().rank.empty()) ends_s.push_back(known.back().elapsed_s.back());
  }
  const Progress pool = pooled(known, times_);
  const double end_s = median(ends_s);
  const FittedCurve fit = falling_fit(pool.elapsed_s, pool.rank);
  std::vector<double> best;
  for (const double rank : interpolate_linearly(fit, times_)) {
    best.push_back(sorted_[static_cast<std::size_t>(std::nearbyint(rank))]);
  }
  // What the runs would have found after they ended is not known: the last value stands.
  const auto after = std::ranges::upper_bound(times_, end_s) - times_.begin();
  if (end_s > times_.front() && after < std::ssize(best)) {
    std::fill(best.begin() + after, best.end(), best[static_cast<std::size_t>(after)]);
  }
  return best;
}

std::vector<double> Scale::standing(std::span<const Trace> runs) const {
  std::vector<double> standing = typical_best(runs);
  const double optimum = sorted_.front();
  for (std::size_t i = 0; i < standing.size(); ++i) {
    const double way = optimum - expected_[i];
    if (std::abs(way) < 1e-6 * std::abs(median_ - optimum)) {
      standing[i] = standing[i] <= optimum ? 0 : kNone;
    } else {
      standing[i] = (standing[i] - expected_[i]) / way;
    }
  }
  return standing;
}

Score score(std::span<const std::vector<double>> standings) {
  std::vector<double> known;
  for (std::size_t i = 0; i < standings.front().size(); ++i) {
    double sum = 0;
    for (const std::vector<double>& standing : standings) sum += standing[i];
    if (!std::isnan(sum)) known.push_back(sum / static_cast<double>(standings.size()));
  }
  if (known.empty()) return {};
  Score score{.mean = mean(known)};
  double squares = 0;
  for (const double value : known) squares += (value - score.mean) * (value - score.mean);
  score.deviation = std::sqrt(squares / static_cast<double>(known.size()));
  return score;
}

}  // namespace tuner::lab
