// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/commands.hpp"
#include "tuner/cli/output.hpp"
#include "tuner/cli/preloading.hpp"
#include "tuner/cli/recorded_products.hpp"
#include "tuner/cli/table.hpp"
#include "tuner/core/file.hpp"
#include "tuner/core/json.hpp"
#include "tuner/core/quantity.hpp"
#include "tuner/family/recorded_calls.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <ranges>
#include <span>
#include <string_view>
#include <unistd.h>
#include <utility>

namespace tuner::cli {
namespace {

constexpr std::size_t kMostRecordingBytes = std::size_t{16} << 20;
constexpr std::size_t kMostRows = 20;          // that are shown
constexpr std::size_t kMostGroupSizes = 1000;  // of a suite

using family::RecordedCalls;
using family::RecordedProduct;

/// Of all processes, what took longest first.
RecordedCalls read_recordings(const std::filesystem::path& folder) {
  RecordedCalls all;
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".json") files.push_back(entry.path());
  }
  std::ranges::sort(files);
  for (const auto& file : files) {
    add_calls(all,
              family::parse_recorded_calls(read_file(file, kMostRecordingBytes), file.string()));
  }
  std::ranges::stable_sort(all.products, std::greater(), [](const RecordedProduct& it) {
    return std::pair(it.estimated_ns(), it.count);
  });
  return all;
}

/// What can be tuned of a family, each size once, one a line.
std::vector<std::string> sizes_of(const RecordedCalls& calls, std::string_view family) {
  std::vector<std::string> sizes;
  for (const RecordedProduct& product : calls.products) {
    if (!can_be_tuned(product) || family_of(product) != family) continue;
    std::string size = size_of(product).dump();
    if (std::ranges::count(sizes, size) == 0) sizes.push_back(std::move(size));
  }
  return sizes;
}

/// The families of which something can be tuned.
std::vector<std::string_view> families_of(const RecordedCalls& calls) {
  std::vector<std::string_view> families(kProductFamilies.begin(), kProductFamilies.end());
  std::erase_if(families, [&](std::string_view it) { return sizes_of(calls, it).empty(); });
  return families;
}

/// Empty where nothing can be tuned.
std::string suite_text(const RecordedCalls& calls, const std::vector<std::string>& program) {
  std::vector<std::string> groups;
  for (const std::string_view family : families_of(calls)) {
    const std::vector<std::string> sizes = sizes_of(calls, family);
    for (std::size_t first = 0; first < sizes.size(); first += kMostGroupSizes) {
      const auto count = std::min(kMostGroupSizes, sizes.size() - first);
      groups.push_back(fmt::format(
          "    {{\"name\": \"recorded_{}\", \"family\": \"{}\", \"sizes\": [\n      {}\n    ]}}",
          groups.size() + 1, family,
          fmt::join(std::span(sizes).subspan(first, count), ",\n      ")));
    }
  }
  if (groups.empty()) return "";
  const std::string doc = fmt::format("Products of: {}", fmt::join(program, " "));
  return fmt::format(
      "{{\n  \"format\": \"suite/1\",\n  \"family\": \"gemm\",\n  \"doc\": {},\n"
      "  \"groups\": [\n{}\n  ],\n  \"recorded\": {}\n}}\n",
      Json(doc).dump(-1, ' ', false, Json::error_handler_t::replace), fmt::join(groups, ",\n"),
      family::recorded_calls_json(calls));
}

std::string share(double part, double all) {
  return all == 0 ? "–" : fmt::format("{:.1f} %", 100 * part / all);
}

/// How many of the products that took longest have 80 % of the time, and what of it they have.
std::pair<std::size_t, double> most_of_the_time(const RecordedCalls& calls, double all_ns) {
  double sum_ns = 0;
  std::size_t count = 0;
  while (count < calls.products.size() && sum_ns < 0.8 * all_ns) {
    sum_ns += calls.products[count++].estimated_ns();
  }
  return {count, sum_ns};
}

/// "By what is known, tuned kernels save 6 % of it." Empty where nothing is known.
std::string gain_text(const CommonOptions& common, const RecordedCalls& calls, double all_ns) {
  double saved_ns = 0;
  bool any = false;
  for (const std::string_view family : families_of(calls)) {
    const auto known = known_of(common, calls.device, family);
    any = any || known;
    if (!known) continue;
    for (const RecordedProduct& it : calls.products) {
      if (!can_be_tuned(it) || family_of(it) != family) continue;
      saved_ns += it.estimated_ns() * expected_gain(*known, it);
    }
  }
  if (!any || all_ns == 0) return "";
  return fmt::format("Expected saving with tuned kernels on this device: {} of that time.\n",
                     share(saved_ns, all_ns));
}

std::string summary(const CommonOptions& common, const RecordedCalls& calls) {
  const double all_ns = total_ns(calls);
  std::uint64_t count = 0, captured = 0;
  std::size_t tunable = 0;
  double tunable_ns = 0;
  for (const RecordedProduct& it : calls.products) {
    count += it.count;
    captured += it.captured;
    if (!can_be_tuned(it)) continue;
    ++tunable;
    tunable_ns += it.estimated_ns();
  }
  const auto [most, most_ns] = most_of_the_time(calls, all_ns);
  std::string text = fmt::format(
      "{}, {} in cuBLAS on {}. {} of that time is in {}; {} with {} of it can be tuned.\n",
      quantity::count(count, "call"), quantity::time(all_ns), calls.device, share(most_ns, all_ns),
      quantity::count(most, "product"), quantity::count(tunable, "product"),
      share(tunable_ns, all_ns));
  text += gain_text(common, calls, all_ns);
  if (captured != 0) {
    text += fmt::format("{} were captured in CUDA graphs, whose launches are not counted.\n",
                        quantity::count(captured, "call"));
  }
  return text;
}

std::string table_text(const RecordedCalls& calls, const Terminal& terminal) {
  const double all_ns = total_ns(calls);
  Table table({{"product, by rows"},
               {"type"},
               {"calls", Table::Align::right},
               {"a call", Table::Align::right},
               {"share", Table::Align::right},
               {"tunable"}});
  for (const RecordedProduct& it : calls.products | std::views::take(kMostRows)) {
    table.add({shown_product(it), it.type, fmt::format("{}", it.count),
               it.timed == 0 ? "–" : quantity::time(it.timed_ns / static_cast<double>(it.timed)),
               share(it.estimated_ns(), all_ns), can_be_tuned(it) ? "yes" : "no: " + why_not(it)});
  }
  std::string text = table.text(terminal);
  if (calls.products.size() > kMostRows) {
    text += fmt::format("… and {} more\n", calls.products.size() - kMostRows);
  }
  return text;
}

}  // namespace

int record(const CommonOptions& common, const RecordOptions& options) {
  const TemporaryDirectory folder;
  set_preloading(common, "record");
  ::setenv("TUNER_CUBLAS_RECORDING", folder.path().c_str(), 1);
  const Expected<int, int> ended = run_program(options.program);
  if (!ended) return ended.error();
  const RecordedCalls calls = read_recordings(folder.path());
  if (calls.products.empty()) {
    tell("record: the program computed no product with cuBLAS\n");
    return *ended;
  }
  const std::string suite = suite_text(calls, options.program);
  if (!options.output.empty() && !suite.empty()) write_file(options.output, suite);
  // On stderr: the standard output is the program's.
  const Terminal terminal(STDERR_FILENO, common.color);
  tell("\n" + table_text(calls, terminal) + "\n" +
       wrapped_lines(summary(common, calls), terminal.width()));
  if (options.output.empty()) return *ended;
  if (suite.empty()) {
    tell(fmt::format("{} was not written: no product can be tuned\n", options.output));
  }
  if (!suite.empty()) tell(fmt::format("To tune them: tune --sizes {}\n", options.output));
  return *ended;
}

int exec(const CommonOptions& common, const ExecOptions& options) {
  set_preloading(common, "serve");
  return become_program(options.program);
}

}  // namespace tuner::cli
