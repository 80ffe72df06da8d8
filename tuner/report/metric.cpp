// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/metric.hpp"

#include <algorithm>

namespace tuner::report {

std::optional<double> Metric::work_of(const SizeHistory& size) const {
  if (!size.best || work == Work::none) return std::nullopt;
  const double amount = work == Work::flops ? size.best->flops : size.best->bytes;
  if (amount <= 0) return std::nullopt;
  return amount;
}

std::optional<double> Metric::rate(const SizeHistory& size, double ns) const {
  const std::optional<double> amount = work_of(size);
  if (!amount || ns <= 0) return std::nullopt;
  return *amount / ns / scale;
}

Metric metric_of(const KernelHistory& kernel) {
  const auto has = [&](double store::BestRecord::*amount) {
    return std::any_of(kernel.sizes.begin(), kernel.sizes.end(), [&](const SizeHistory& size) {
      return size.best && (*size.best).*amount > 0;
    });
  };
  Metric metric;
  if (has(&store::BestRecord::flops)) {
    metric.work = Metric::Work::flops;
  } else if (has(&store::BestRecord::bytes)) {
    metric.work = Metric::Work::bytes;
  } else {
    return metric;
  }
  double fastest_rate = 0;
  for (const SizeHistory& size : kernel.sizes) {
    if (const auto ns = ranking_ns(size))
      fastest_rate = std::max(fastest_rate, metric.rate(size, *ns).value_or(0));
  }
  const bool large = fastest_rate >= 1000;
  metric.scale = large ? 1000 : 1;
  metric.unit = large ? "T" : "G";
  metric.unit += metric.work == Metric::Work::flops ? "FLOP/s" : "B/s";
  return metric;
}

std::optional<double> best_ns(const SizeHistory& size) {
  if (size.best) return size.best->time.median_ns;
  const ReportedTrial* evaluation = fastest(size);
  if (evaluation == nullptr) return std::nullopt;
  return evaluation->time->median_ns;
}

std::optional<double> ranking_ns(const SizeHistory& size) {
  if (size.best) return store::ranking_ns(*size.best);
  const ReportedTrial* trial = fastest(size);
  return trial == nullptr ? std::nullopt : std::optional(trial->ranking_ns);
}

namespace {

/// `ratio` is of its ranking time to the best's, `cold_ns` of its single launches.
std::optional<double> other_ns(const store::BestRecord& best, std::optional<double> ratio,
                               std::optional<double> cold_ns) {
  return store::is_back_to_back(best) && ratio ? std::optional(*ratio * store::ranking_ns(best))
                                               : cold_ns;
}

}  // namespace

std::optional<double> default_ns(const SizeHistory& size) {
  if (!size.best) return std::nullopt;
  return other_ns(*size.best, size.best->ratio_to_default, size.best->default_ns);
}

std::optional<double> library_ns(const SizeHistory& size) {
  if (!size.best) return std::nullopt;
  return other_ns(*size.best, size.best->ratio_to_library, size.best->library_ns);
}

std::optional<double> cold_gain(const SizeHistory& size) {
  return size.best ? store::cold_gain(*size.best) : std::nullopt;
}

bool has_series(const SizeHistory& size) {
  return std::ranges::any_of(size.evaluations,
                             [](const auto& it) { return it.series_ns.has_value(); });
}

std::string_view measure_of_trials(const SizeHistory& size) {
  return has_series(size) ? kBackToBack : kCold;
}

std::string_view ranking_measure(const SizeHistory& size) {
  if (!size.best) return measure_of_trials(size);
  return store::is_back_to_back(*size.best) ? kBackToBack : kCold;
}

const ReportedTrial* fastest(const SizeHistory& size) {
  const ReportedTrial* best = nullptr;
  for (const ReportedTrial& trial : size.evaluations) {
    if (trial.time && (best == nullptr || trial.ranking_ns < best->ranking_ns)) best = &trial;
  }
  return best;
}

}  // namespace tuner::report
