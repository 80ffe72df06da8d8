// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/metric.hpp"

#include "tuner/core/series_share.hpp"

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
    if (const auto ns = best_ns(size))
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
  if (size.best && size.best->sustained_ns) return size.best->sustained_ns;
  const ReportedTrial* trial = size.best ? nullptr : fastest(size);
  return trial != nullptr && trial->series_ns ? trial->series_ns : best_ns(size);
}

const ReportedTrial* fastest(const SizeHistory& size) {
  SeriesShare share;
  for (const ReportedTrial& trial : size.evaluations) {
    if (trial.time) share.learn(trial.time->median_ns, trial.series_ns);
  }
  const auto ns_of = [&](const ReportedTrial& trial) {
    return share.ranking_ns(trial.time->median_ns, trial.series_ns);
  };
  const ReportedTrial* best = nullptr;
  for (const ReportedTrial& trial : size.evaluations) {
    if (trial.time && (best == nullptr || ns_of(trial) < ns_of(*best))) best = &trial;
  }
  return best;
}

}  // namespace tuner::report
