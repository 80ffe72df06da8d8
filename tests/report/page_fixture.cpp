// SPDX-License-Identifier: Apache-2.0
// page_fixture DIRECTORY [KERNELS SIZES]: writes the page of the sample database, the sample
// sweep and a comparison or, of so many kernels at as many sizes, of a large one, which
// page_test.mjs opens. page_fixture --document: prints the documents of both as TypeScript that tsc
// checks.
#include "sample_store.hpp"
#include "tuner/core/file.hpp"
#include "tuner/core/outcome.hpp"
#include "tuner/report/report.hpp"
#include "tuner/report/sweep_sections.hpp"

#include <nlohmann/json.hpp>

#include <iostream>
#include <string_view>

namespace {

using namespace tuner;

/// The sample sweep, and the sample's own results as if an earlier driver had been faster.
report::Additions sample_additions() {
  const std::string file = TUNER_SOURCE_DIR "/tests/data/sweep/sample.json";
  report::ComparedResults earlier{.name = "earlier.sqlite",
                                  .bests = report::sample_store().bests({})};
  for (store::StoredBest& one : earlier.bests) {
    for (double TimeSummary::*const time : {&TimeSummary::median_ns, &TimeSummary::q1_ns,
                                            &TimeSummary::q3_ns, &TimeSummary::min_ns}) {
      one.best.time.*time *= 0.9;
    }
  }
  return {.sweeps = {report::parse_sweep(read_file(file, 1 << 20), file)},
          .compared = {std::move(earlier)}};
}

/// A literal, whose every member tsc compares with the declaration.
void print_typed(std::string_view name, const Json& document) {
  std::cout << "export const " << name << ": Report = " << document.dump() << ";\n";
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2 && argc != 4) return 2;
  const std::string_view directory = argv[1];
  if (directory == "--document") {
    std::cout << "import type { FailedOutcome, Report } from \"./document\";\n";
    std::cout << "export const outcomes: Record<FailedOutcome, null> = {";
    for (const Outcome outcome : kOutcomes) {
      if (outcome != Outcome::ok) std::cout << name(outcome) << ": null, ";
    }
    std::cout << "};\n";
    print_typed("sample",
                report::report_document(report::sample_store(), "NVIDIA H200", sample_additions()));
    print_typed("large", report::report_document(report::large_store(2, 2), "NVIDIA H200"));
    return 0;
  }
  const auto paths =
      argc == 2 ? report::write_reports(report::sample_store(), std::nullopt, directory,
                                        sample_additions())
                : report::write_reports(report::large_store(std::stoi(argv[2]), std::stoi(argv[3])),
                                        std::nullopt, directory);
  for (const auto& path : paths) std::cout << path.string() << '\n';
}
