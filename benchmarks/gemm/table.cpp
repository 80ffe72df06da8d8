// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/gemm/table.hpp"

#include "benchmarks/gemm/rows.hpp"
#include "benchmarks/gemm/summary.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace tuner::gemm_benchmark {
namespace {

std::string rate(const ShapeResult& result, Role role, double copy_bytes_per_s) {
  const ContenderResult* const contender = find(result, role);
  if (contender == nullptr) return "-";
  const double time_ns = contender->time_ns.median_ns;
  if (!is_memory_bound(result.shape)) {
    return fmt::format("{:.2f} TF/s", flops(result.shape) / time_ns / 1e3);
  }
  const double bytes_per_ns = bytes(result.shape) / time_ns;
  if (!(copy_bytes_per_s > 0)) return fmt::format("{:.0f} GB/s", bytes_per_ns);
  return fmt::format("{:.0f} GB/s {:.0f}%", bytes_per_ns,
                     100 * bytes_per_ns * 1e9 / copy_bytes_per_s);
}

std::string time(const ShapeResult& result, Role role) {
  const ContenderResult* const contender = find(result, role);
  return contender == nullptr ? "-" : fmt::format("{:.2f}", contender->time_ns.median_ns / 1e3);
}

std::string ratio(const std::optional<measure::MedianInterval>& interval) {
  if (!interval) return "-";
  return fmt::format("{:.3f} +-{:.3f}", interval->median, (interval->high - interval->low) / 2);
}

std::string kernels(const ShapeResult& result) {
  std::vector<std::string> all;
  for (const ContenderResult& contender : result.contenders) {
    if (contender.role == Role::by_default) continue;  // the same kernel as ours
    all.push_back(fmt::format("{}: {}", name(contender.role), contender.kernel));
  }
  all.insert(all.end(), result.notes.begin(), result.notes.end());
  return fmt::format("{}", fmt::join(all, "; "));
}

Row row(const ShapeResult& result, const RunInfo& run) {
  return {result.group,
          display(result.shape),
          rate(result, Role::ours, run.copy_bytes_per_s),
          rate(result, Role::cublas, run.copy_bytes_per_s),
          rate(result, Role::cublas_lt, run.copy_bytes_per_s),
          time(result, Role::ours),
          time(result, Role::cublas),
          time(result, Role::cublas_lt),
          time(result, Role::cublas_lt_default),
          ratio(result.ours_to_cublas),
          ratio(result.ours_to_cublas_lt),
          ratio(result.ours_to_default),
          ratio(result.cublas_lt_to_cublas),
          ratio(result.cublas_lt_to_default),
          result.clock_mhz ? fmt::format("{:.0f}", *result.clock_mhz) : "-",
          result.worst_difference ? fmt::format("{:.2g}", *result.worst_difference) : "-",
          kernels(result)};
}

std::string mean(const std::optional<double>& value) {
  return value ? fmt::format("{:.3f}", *value) : "-";
}

std::string closing(const BenchmarkSummary& summary) {
  std::string text;
  if (summary.worst) {
    text += fmt::format("\nworst against cuBLAS: {} at {:.3f}\n", summary.worst->shape,
                        summary.worst->ours_to_cublas);
  }
  for (const Standing& each : summary.behind) {
    text += fmt::format("below 0.97: {} at {:.3f}\n", each.shape, each.ours_to_cublas);
  }
  for (const std::string& shape : summary.wrong) {
    text += fmt::format("WRONG: {}: the result is not cuBLAS's\n", shape);
  }
  return text;
}

}  // namespace

std::string table(const BenchmarkResult& result) {
  std::vector<Row> rows{{"group", "shape", "ours", "cublas", "cublasLt", "ours us", "cublas us",
                         "cublasLt us", "Lt default us", "/cublas", "/cublasLt", "/default",
                         "Lt/cublas", "Lt/its default", "MHz", "diff", "kernels"}};
  for (const ShapeResult& shape : result.shapes) rows.push_back(row(shape, result.run));
  const BenchmarkSummary summary = summarise(result);
  std::vector<Row> means{{"geometric mean", "shapes", "tuned", "/cublas", "/cublasLt", "/default",
                          "Lt/cublas", "Lt/its default"}};
  for (const Means& each : summary.means) {
    means.push_back({each.group.empty() ? "all" : each.group, std::to_string(each.shapes),
                     std::to_string(each.tuned), mean(each.ours_to_cublas),
                     mean(each.ours_to_cublas_lt), mean(each.ours_to_default),
                     mean(each.cublas_lt_to_cublas), mean(each.cublas_lt_to_default)});
  }
  const RunInfo& run = result.run;
  return fmt::format("{}, driver {}, CUDA {}, {}, {}; copy {:.0f} GB/s\n\n{}\n{}{}", run.device,
                     run.driver, run.cuda, run.library, run.date, run.copy_bytes_per_s / 1e9,
                     aligned_rows(rows), aligned_rows(means), closing(summary));
}

}  // namespace tuner::gemm_benchmark
