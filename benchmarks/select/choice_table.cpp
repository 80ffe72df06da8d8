// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/select/choice.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tuner::gemm_benchmark {
namespace {

std::string microseconds_text(const std::optional<TimeSummary>& time_ns) {
  return time_ns ? fmt::format("{:.2f}", time_ns->median_ns / 1e3) : "-";
}

std::string ratio(const std::optional<measure::MedianInterval>& interval) {
  if (!interval) return "-";
  return fmt::format("{:.3f} +-{:.3f}", interval->median, (interval->high - interval->low) / 2);
}

std::string expectation(const Choice& choice) {
  if (!choice.answer || !choice.answer->expected_ns || !choice.dispatched_ns) return "-";
  return fmt::format("{:.2f}", *choice.answer->expected_ns / choice.dispatched_ns->median_ns);
}

Row row(const Choice& choice) {
  const auto& answer = choice.answer;
  return {display(choice.shape),
          answer ? std::string(name(answer->rung)) : "-",
          answer && !answer->kernel.empty() ? answer->kernel : "-",
          microseconds_text(choice.dispatched_ns),
          microseconds_text(choice.cublas_ns),
          ratio(choice.to_cublas),
          std::string(verdict(choice)),
          ratio(choice.regret),
          ratio(choice.kernel_to_cublas),
          expectation(choice),
          choice.worst_difference ? fmt::format("{:.2g}", *choice.worst_difference) : "-",
          fmt::format("{}", fmt::join(choice.notes, "; "))};
}

void add(std::vector<Row>& rows, const char* what, const std::optional<Ratios>& ratios) {
  if (!ratios) return;
  Row row{what, std::to_string(ratios->sizes), fmt::format("{:.3f}", ratios->geometric_mean)};
  for (const auto& [share, value] : ratios->quantiles) row.push_back(fmt::format("{:.3f}", value));
  row.push_back(fmt::format("{:.3f}", ratios->worst));
  row.push_back(std::to_string(ratios->beyond_5_percent));
  row.push_back(ratios->worst_shape);
  rows.push_back(std::move(row));
}

std::string closing(const ChoiceSummary& summary) {
  std::vector<Row> rows{{"time / time of", "sizes", "mean", "5%", "25%", "50%", "75%", "90%", "95%",
                         "99%", "worst", "> 1.05", "worst at"}};
  add(rows, "cublasSgemm", summary.to_cublas);
  add(rows, "cublasSgemm, rows of 16 bytes", summary.by_rows_of_16);
  add(rows, "cublasSgemm, other rows", summary.by_odd_rows);
  add(rows, "what tuning it finds", summary.regret);
  add(rows, "kernels left for cublasSgemm", summary.kernels_left);
  std::string text = aligned_rows(rows);
  for (const auto& [rung, sizes] : summary.rungs) {
    text += fmt::format("{} answered {} sizes\n", rung, sizes);
  }
  if (summary.expectation_error) {
    text += fmt::format("expected times are {:.1f} % off\n", 100 * *summary.expectation_error);
  }
  return text;
}

}  // namespace

std::string table(const RandomSizesResult& result) {
  std::vector<Row> rows{{"size", "rung", "kernel", "us", "cublas us", "/cublas", "choice", "regret",
                         "kernel", "expected", "diff", "notes"}};
  for (const Choice& choice : result.choices) rows.push_back(row(choice));
  const RunInfo& run = result.run;
  return fmt::format("{}, driver {}, CUDA {}, {}, {}; {} sizes, seed {}\n\n{}\n{}", run.device,
                     run.driver, run.cuda, run.library, run.date, result.choices.size(),
                     result.seed, aligned_rows(rows), closing(summarise(result)));
}

}  // namespace tuner::gemm_benchmark
