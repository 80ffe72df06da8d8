// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/select/choice.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace tuner::gemm_benchmark {
namespace {

template <class Value>
Json or_null(const std::optional<Value>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json microseconds(const std::optional<TimeSummary>& time_ns) {
  return time_ns ? Json(time_ns->median_ns / 1e3) : Json(nullptr);
}

Json answer_json(const std::optional<Answer>& answer) {
  if (!answer) return nullptr;
  const auto& ns = answer->expected_ns;
  return {{"rung", name(answer->rung)},
          {"kernel", answer->kernel},
          {"configuration", answer->configuration},
          {"expected_us", ns ? Json(*ns / 1e3) : Json(nullptr)},
          {"distance", answer->distance},
          {"explanation", answer->explanation}};
}

Json choice_json(const Choice& choice) {
  return {{"size", display(choice.shape)},
          {"answer", answer_json(choice.answer)},
          {"dispatched_us", microseconds(choice.dispatched_ns)},
          {"cublas_us", microseconds(choice.cublas_ns)},
          {"retuned_us", microseconds(choice.retuned_ns)},
          {"to_cublas", interval_json(choice.to_cublas)},
          {"regret", interval_json(choice.regret)},
          {"kernel_to_cublas", interval_json(choice.kernel_to_cublas)},
          {"choice", verdict(choice)},
          {"worst_difference", or_null(choice.worst_difference)},
          {"notes", choice.notes}};
}

Json ratios_json(const std::optional<Ratios>& ratios) {
  if (!ratios) return nullptr;
  Json quantiles = Json::object();
  for (const auto& [share, value] : ratios->quantiles) {
    quantiles[fmt::format("{}", share)] = value;
  }
  return {{"sizes", ratios->sizes},
          {"geometric_mean", ratios->geometric_mean},
          {"worst", ratios->worst},
          {"worst_at", ratios->worst_shape},
          {"quantiles", std::move(quantiles)},
          {"above_1.05", ratios->beyond_5_percent}};
}

Json summary_json(const ChoiceSummary& summary) {
  return {{"to_cublas", ratios_json(summary.to_cublas)},
          {"to_cublas_rows_of_16_bytes", ratios_json(summary.by_rows_of_16)},
          {"to_cublas_other_rows", ratios_json(summary.by_odd_rows)},
          {"regret", ratios_json(summary.regret)},
          {"kernels_left", ratios_json(summary.kernels_left)},
          {"rungs", summary.rungs},
          {"expectation_error", or_null(summary.expectation_error)}};
}

}  // namespace

std::string choices_json(const RandomSizesResult& result) {
  Json choices = Json::array();
  for (const Choice& choice : result.choices) choices.push_back(choice_json(choice));
  const Json document = {{"format", "random_sizes/1"},
                         {"device", result.run.device},
                         {"driver", result.run.driver},
                         {"cuda", result.run.cuda},
                         {"library", result.run.library},
                         {"date", result.run.date},
                         {"seed", result.seed},
                         {"sizes", std::move(choices)},
                         {"summary", summary_json(summarise(result))}};
  return document.dump(1) + '\n';
}

}  // namespace tuner::gemm_benchmark
