// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/gemm/result.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <utility>

namespace tuner::gemm_benchmark {

std::string_view name(Role role) {
  constexpr std::array<std::string_view, 8> kNames = {
      "ours",       "default", "cublas", "cublasLt", "cublasLt default",
      "dispatched", "retuned", "kernel"};
  return kNames.at(static_cast<std::size_t>(role));
}

const ContenderResult* find(const ShapeResult& result, Role role) {
  const auto found = std::ranges::find(result.contenders, role, &ContenderResult::role);
  return found == result.contenders.end() ? nullptr : &*found;
}

bool is_memory_bound(const Shape& shape) {
  const auto ridge = [&] {
    if (shape.type == ElementType::tf32) return 118;
    if (bits(shape.type) == 16) return 236;
    return bits(shape.type) == 8 ? 472 : 16;
  };
  return flops(shape) < ridge() * bytes(shape);
}

namespace {

using Ratio = std::optional<measure::MedianInterval> ShapeResult::*;

std::optional<double> mean(std::span<const ShapeResult* const> shapes, Ratio ratio) {
  std::vector<double> values;
  for (const ShapeResult* shape : shapes) {
    if (shape->*ratio) values.push_back((shape->*ratio)->median);
  }
  return geometric_mean(values);
}

Means means(std::string group, std::span<const ShapeResult* const> shapes) {
  const auto tuned = std::ranges::count_if(
      shapes, [](const ShapeResult* shape) { return find(*shape, Role::ours) != nullptr; });
  return {.group = std::move(group),
          .shapes = shapes.size(),
          .tuned = static_cast<std::size_t>(tuned),
          .ours_to_cublas = mean(shapes, &ShapeResult::ours_to_cublas),
          .ours_to_cublas_lt = mean(shapes, &ShapeResult::ours_to_cublas_lt),
          .ours_to_default = mean(shapes, &ShapeResult::ours_to_default),
          .cublas_lt_to_cublas = mean(shapes, &ShapeResult::cublas_lt_to_cublas),
          .cublas_lt_to_default = mean(shapes, &ShapeResult::cublas_lt_to_default)};
}

/// All shapes, then each group.
std::vector<Means> all_means(const BenchmarkResult& result) {
  std::vector<std::string> groups;
  std::vector<const ShapeResult*> all;
  for (const ShapeResult& shape : result.shapes) {
    all.push_back(&shape);
    if (std::ranges::count(groups, shape.group) == 0) groups.push_back(shape.group);
  }
  std::vector<Means> found{means("", all)};
  for (const std::string& group : groups) {
    std::vector<const ShapeResult*> members = all;
    std::erase_if(members, [&](const ShapeResult* shape) { return shape->group != group; });
    found.push_back(means(group, members));
  }
  return found;
}

}  // namespace

std::optional<double> geometric_mean(std::span<const double> values) {
  if (values.empty()) return std::nullopt;
  double logarithms = 0;
  for (const double value : values) logarithms += std::log(value);
  return std::exp(logarithms / static_cast<double>(values.size()));
}

BenchmarkSummary summarise(const BenchmarkResult& result) {
  constexpr double kBehind = 0.97;
  BenchmarkSummary summary{.means = all_means(result), .worst = {}, .behind = {}, .wrong = {}};
  std::vector<Standing> standings;
  for (const ShapeResult& shape : result.shapes) {
    if (shape.ours_to_cublas) {
      standings.push_back({display(shape.shape), shape.ours_to_cublas->median});
    }
    if (shape.worst_difference && !(*shape.worst_difference <= 1)) {
      summary.wrong.push_back(display(shape.shape));
    }
  }
  std::ranges::stable_sort(standings, {}, &Standing::ours_to_cublas);
  if (!standings.empty()) summary.worst = standings.front();
  std::ranges::copy_if(standings, std::back_inserter(summary.behind),
                       [](const Standing& each) { return each.ours_to_cublas < kBehind; });
  return summary;
}

namespace {

template <class Value>
Json or_null(const std::optional<Value>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json contender_json(const ContenderResult& contender, const Shape& shape) {
  const double time_ns = contender.time_ns.median_ns;
  return {{"role", name(contender.role)},
          {"kernel", contender.kernel},
          {"median_us", time_ns / 1e3},
          {"q1_us", contender.time_ns.q1_ns / 1e3},
          {"q3_us", contender.time_ns.q3_ns / 1e3},
          {"tflops_per_s", flops(shape) / time_ns / 1e3},
          {"gbytes_per_s", bytes(shape) / time_ns}};
}

Json shape_json(const ShapeResult& result) {
  Json contenders = Json::array();
  for (const ContenderResult& each : result.contenders) {
    contenders.push_back(contender_json(each, result.shape));
  }
  return {{"group", result.group},
          {"shape", display(result.shape)},
          {"memory_bound", is_memory_bound(result.shape)},
          {"contenders", std::move(contenders)},
          {"ours_to_cublas", interval_json(result.ours_to_cublas)},
          {"ours_to_cublasLt", interval_json(result.ours_to_cublas_lt)},
          {"ours_to_default", interval_json(result.ours_to_default)},
          {"cublasLt_to_cublas", interval_json(result.cublas_lt_to_cublas)},
          {"cublasLt_to_default", interval_json(result.cublas_lt_to_default)},
          {"clock_mhz", or_null(result.clock_mhz)},
          {"rounds", result.rounds},
          {"launches_per_sample", result.launches},
          {"operand_sets", result.sets},
          {"worst_difference", or_null(result.worst_difference)},
          {"notes", result.notes}};
}

Json summary_json(const BenchmarkSummary& summary) {
  Json all = Json::array();
  for (const Means& each : summary.means) {
    all.push_back({{"group", each.group.empty() ? Json(nullptr) : Json(each.group)},
                   {"shapes", each.shapes},
                   {"tuned", each.tuned},
                   {"ours_to_cublas", or_null(each.ours_to_cublas)},
                   {"ours_to_cublasLt", or_null(each.ours_to_cublas_lt)},
                   {"ours_to_default", or_null(each.ours_to_default)},
                   {"cublasLt_to_cublas", or_null(each.cublas_lt_to_cublas)},
                   {"cublasLt_to_default", or_null(each.cublas_lt_to_default)}});
  }
  Json behind = Json::array();
  for (const Standing& each : summary.behind) {
    behind.push_back({{"shape", each.shape}, {"ours_to_cublas", each.ours_to_cublas}});
  }
  return {{"geometric_means", std::move(all)},
          {"worst", summary.worst ? Json(summary.worst->shape) : Json(nullptr)},
          {"below_0.97", std::move(behind)},
          {"wrong", summary.wrong}};
}

}  // namespace

Json interval_json(const std::optional<measure::MedianInterval>& interval) {
  if (!interval) return nullptr;
  return {{"median", interval->median}, {"low", interval->low}, {"high", interval->high}};
}

std::string result_json(const BenchmarkResult& result) {
  Json shapes = Json::array();
  for (const ShapeResult& each : result.shapes) shapes.push_back(shape_json(each));
  const Json document = {{"format", "gemm_benchmark/1"},
                         {"device", result.run.device},
                         {"driver", result.run.driver},
                         {"cuda", result.run.cuda},
                         {"library", result.run.library},
                         {"date", result.run.date},
                         {"copy_gbytes_per_s", result.run.copy_bytes_per_s / 1e9},
                         {"sustained", result.sustained},
                         {"shapes", std::move(shapes)},
                         {"summary", summary_json(summarise(result))}};
  return document.dump(1) + '\n';
}

std::string aligned_rows(const std::vector<Row>& rows) {
  std::vector<std::size_t> widths(rows.front().size());
  for (const Row& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text;
  for (const Row& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) line += fmt::format("{:<{}}  ", row[i], widths[i]);
    text += line.substr(0, line.find_last_not_of(' ') + 1) + '\n';
  }
  return text;
}

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

std::string ratio_text(const std::optional<measure::MedianInterval>& interval) {
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
          ratio_text(result.ours_to_cublas),
          ratio_text(result.ours_to_cublas_lt),
          ratio_text(result.ours_to_default),
          ratio_text(result.cublas_lt_to_cublas),
          ratio_text(result.cublas_lt_to_default),
          result.clock_mhz ? fmt::format("{:.0f}", *result.clock_mhz) : "-",
          result.worst_difference ? fmt::format("{:.2g}", *result.worst_difference) : "-",
          kernels(result)};
}

std::string mean_text(const std::optional<double>& value) {
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
                     std::to_string(each.tuned), mean_text(each.ours_to_cublas),
                     mean_text(each.ours_to_cublas_lt), mean_text(each.ours_to_default),
                     mean_text(each.cublas_lt_to_cublas), mean_text(each.cublas_lt_to_default)});
  }
  const RunInfo& run = result.run;
  return fmt::format("{}, driver {}, CUDA {}, {}, {}; copy {:.0f} GB/s\n\n{}\n{}{}", run.device,
                     run.driver, run.cuda, run.library, run.date, run.copy_bytes_per_s / 1e9,
                     aligned_rows(rows), aligned_rows(means), closing(summary));
}

}  // namespace tuner::gemm_benchmark
