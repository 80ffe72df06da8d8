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
  return best_ns(size);
}

const ReportedTrial* fastest(const SizeHistory& size) {
  const ReportedTrial* best = nullptr;
  // As a search ranks them: what was timed in series is faster than what was not worth that.
  const auto is_faster = [&](const ReportedTrial& one) {
    if (best == nullptr) return true;
    if (one.series_ns.has_value() != best->series_ns.has_value()) return one.series_ns.has_value();
    return one.series_ns ? *one.series_ns < *best->series_ns
                         : one.time->median_ns < best->time->median_ns;
  };
  for (const ReportedTrial& evaluation : size.evaluations) {
    if (evaluation.time && is_faster(evaluation)) best = &evaluation;
  }
  return best;
}

}  // namespace tuner::report
