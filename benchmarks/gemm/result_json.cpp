// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/gemm/result_json.hpp"

#include "benchmarks/gemm/summary.hpp"

#include <nlohmann/json.hpp>

namespace tuner::gemm_benchmark {
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
                         {"shapes", std::move(shapes)},
                         {"summary", summary_json(summarise(result))}};
  return document.dump(1) + '\n';
}

}  // namespace tuner::gemm_benchmark
