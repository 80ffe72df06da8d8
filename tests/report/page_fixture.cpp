// SPDX-License-Identifier: Apache-2.0
// page_fixture DIRECTORY: writes the page of the sample database, the sample sweep and a
// comparison, which page_test.mjs opens. page_fixture DIRECTORY KERNELS SIZES: that of so many
// kernels at as many sizes. page_fixture DIRECTORY --large: those of 3 and of 10 kernels at 72
// sizes. page_fixture DIRECTORY --published: that of the published results of an H200.
// page_fixture DIRECTORY --live: live.html, as during a run. page_fixture --document: prints
// documents as TypeScript that tsc checks. page_fixture --random: prints those of random databases.
#include "random_database.hpp"
#include "sample_store.hpp"
#include "tuner/core/file.hpp"
#include "tuner/core/outcome.hpp"
#include "tuner/report/report.hpp"
#include "tuner/report/sweep.hpp"
#include "tuner/store/best_line.hpp"

#include <nlohmann/json.hpp>

#include <filesystem>
#include <iostream>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

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

/// The document with all numbers 0 and each element of a long array once, because tsc takes seconds
/// for what has the same type. Tuples are short.
Json as_types(const Json& value) {
  constexpr std::size_t kLongestTuple = 8;
  if (value.is_number()) return 0;
  if (!value.is_structured()) return value;
  Json copy = value.is_array() ? Json::array() : Json::object();
  std::set<std::string> seen;
  for (const auto& [key, element] : value.items()) {
    Json typed = as_types(element);
    if (value.is_object()) {
      copy[key] = std::move(typed);
    } else if (value.size() <= kLongestTuple || seen.insert(typed.dump()).second) {
      copy.push_back(std::move(typed));
    }
  }
  return copy;
}

/// A literal, whose every member tsc compares with the declaration.
void print_typed(std::string_view name, const Json& document) {
  std::cout << "export const " << name << ": Report = " << as_types(document).dump() << ";\n";
}

void print(const std::vector<std::filesystem::path>& paths) {
  for (const auto& path : paths) std::cout << path.string() << std::endl;
}

/// A page in a folder of that name.
void write_large_page(const store::Store& store, const std::filesystem::path& folder) {
  std::filesystem::create_directory(folder);
  print(report::write_reports(store, std::nullopt, folder));
}

void write_published_page(const std::filesystem::path& folder) {
  const std::string file = TUNER_SOURCE_DIR "/db/seed/nvidia-h200.jsonl";
  store::Store store = store::Store::in_memory();
  store.import_bests(store::parse_best_lines(read_file(file, std::size_t{64} << 20), file), file);
  print(report::write_reports(store, std::nullopt, folder));
}

int print_documents() {
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

int print_random_documents() {
  constexpr std::uint64_t kDatabases = 40;
  Json documents = Json::array();
  for (std::uint64_t seed = 1; seed <= kDatabases; ++seed) {
    documents.push_back(report::random_database(seed).document());
  }
  std::cout << documents.dump() << "\n";
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  if (arguments.size() == 1 && arguments[0] == "--document") return print_documents();
  if (arguments.size() == 1 && arguments[0] == "--random") return print_random_documents();
  if (arguments.size() == 1) {
    print(report::write_reports(report::sample_store(), std::nullopt, arguments[0],
                                sample_additions()));
  } else if (arguments.size() == 2 && arguments[1] == "--live") {
    const std::filesystem::path page = std::filesystem::path(arguments[0]) / "live.html";
    report::write_report(report::sample_store(), "NVIDIA H200", page, {.reloaded_every_s = 5});
    print({page});
  } else if (arguments.size() == 2 && arguments[1] == "--published") {
    write_published_page(std::filesystem::path(arguments[0]) / "published");
  } else if (arguments.size() == 2 && arguments[1] == "--large") {
    store::Store store = report::large_store(3, 72);
    write_large_page(store, std::filesystem::path(arguments[0]) / "few");
    report::add_kernels(store, 3, 10, 72);
    write_large_page(store, std::filesystem::path(arguments[0]) / "many");
  } else if (arguments.size() == 3) {
    write_large_page(report::large_store(std::stoi(arguments[1]), std::stoi(arguments[2])),
                     arguments[0]);
  } else {
    return 2;
  }
}
