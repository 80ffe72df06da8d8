// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/select/choice.hpp"

#include <algorithm>
#include <cmath>

namespace tuner::gemm_benchmark {
namespace {

struct Standing {
  const Choice* choice = nullptr;
  double ratio = 1;
};

template <class Which>
std::optional<Ratios> ratios(const RandomSizesResult& result,
                             std::optional<measure::MedianInterval> Choice::*ratio, Which which) {
  constexpr double kBehind = 1.05;
  std::vector<Standing> standings;
  std::vector<double> values;
  for (const Choice& choice : result.choices) {
    if (!(choice.*ratio) || !which(choice)) continue;
    standings.push_back({&choice, (choice.*ratio)->median});
    values.push_back(standings.back().ratio);
  }
  if (values.empty()) return std::nullopt;
  const Standing worst = *std::ranges::max_element(standings, {}, &Standing::ratio);
  Ratios found{.sizes = values.size(),
               .geometric_mean = *geometric_mean(values),
               .worst = worst.ratio,
               .worst_shape = display(worst.choice->shape),
               .quantiles = {},
               .beyond_5_percent = static_cast<std::size_t>(
                   std::ranges::count_if(values, [](double value) { return value > kBehind; }))};
  for (const double share : {0.05, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99}) {
    found.quantiles.emplace_back(share, *measure::quantile(values, share));
  }
  return found;
}

bool has_rows_of_16(const Choice& choice) {
  return choice.shape.n % 4 == 0 && choice.shape.k % 4 == 0;
}

std::optional<double> expectation_error(const RandomSizesResult& result) {
  double squares = 0, count = 0;
  for (const Choice& choice : result.choices) {
    if (!choice.answer || !choice.answer->expected_ns || !choice.dispatched_ns) continue;
    const double ln = std::log(*choice.answer->expected_ns / choice.dispatched_ns->median_ns);
    squares += ln * ln;
    ++count;
  }
  if (count == 0) return std::nullopt;
  return std::sqrt(squares / count);
}

}  // namespace

std::string_view verdict(const Choice& choice) {
  if (!choice.to_cublas) return "-";
  if (choice.answer && choice.answer->rung == Rung::library) {
    return choice.kernel_to_cublas && choice.kernel_to_cublas->high < 1 ? "missed" : "library";
  }
  if (choice.to_cublas->high < 1) return "faster";
  return choice.to_cublas->low > 1 ? "slower" : "even";
}

bool is_good(const Choice& choice) {
  return choice.to_cublas && choice.worst_difference && *choice.worst_difference <= 1;
}

ChoiceSummary summarise(const RandomSizesResult& result) {
  const auto any = [](const Choice&) { return true; };
  ChoiceSummary summary{
      .to_cublas = ratios(result, &Choice::to_cublas, any),
      .by_rows_of_16 = ratios(result, &Choice::to_cublas, has_rows_of_16),
      .by_odd_rows = ratios(result, &Choice::to_cublas,
                            [](const Choice& choice) { return !has_rows_of_16(choice); }),
      .regret = ratios(result, &Choice::regret, any),
      .kernels_left = ratios(result, &Choice::kernel_to_cublas, any),
      .rungs = {},
      .expectation_error = expectation_error(result)};
  for (const Choice& choice : result.choices) {
    if (choice.answer) ++summary.rungs[std::string(name(choice.answer->rung))];
  }
  return summary;
}

}  // namespace tuner::gemm_benchmark
