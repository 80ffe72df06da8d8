// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/commands.hpp"
#include "tuner/cli/database.hpp"
#include "tuner/cli/output.hpp"
#include "tuner/cli/preloading.hpp"
#include "tuner/cli/recorded_product.hpp"
#include "tuner/cli/table.hpp"
#include "tuner/core/error.hpp"
#include "tuner/core/file.hpp"
#include "tuner/core/json.hpp"
#include "tuner/core/quantity.hpp"
#include "tuner/family/recorded_calls.hpp"
#include "tuner/select/rank.hpp"
#include "tuner/select/shipped_table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <numeric>
#include <optional>
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

/// The families that have products, in spaces/ under their names.
constexpr std::array<std::string_view, 2> kFamilies = {"gemm", "gemm_tensor"};

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
    if (!can_be_tuned(product) || type_of(product)->family != family) continue;
    std::string size = size_of(product).dump();
    if (std::ranges::count(sizes, size) == 0) sizes.push_back(std::move(size));
  }
  return sizes;
}

/// The families of which something can be tuned.
std::vector<std::string_view> families_of(const RecordedCalls& calls) {
  std::vector<std::string_view> families(kFamilies.begin(), kFamilies.end());
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

std::string shown_product(const RecordedProduct& it) {
  std::string text = fmt::format("{},{},{}", it.m, it.n, it.k);
  const Json size = size_of(it);
  for (const auto& [name, value] : size.items()) {
    if (name == "M" || name == "N" || name == "K") continue;
    text +=
        fmt::format(",{}={}", name, value.is_string() ? value.get<std::string>() : value.dump());
  }
  return text;
}

std::string share(double part, double all) {
  return all == 0 ? "–" : fmt::format("{:.1f} %", 100 * part / all);
}

double total_ns(const RecordedCalls& calls) {
  return std::accumulate(
      calls.products.begin(), calls.products.end(), 0.0,
      [](double sum, const RecordedProduct& it) { return sum + it.estimated_ns(); });
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

/// What is known of a family on the device: by the database, else by the table that is shipped.
std::optional<select::Catalogue> known_of(const CommonOptions& common, const std::string& device,
                                          std::string_view family) {
  try {
    return select::catalogue(open_database(common, store::Store::Mode::read_only),
                             {.device = device, .family = std::string(family)});
  } catch (const Error& error) {
    if (error.code() != ErrorCode::nothing_found) throw;
    return select::shipped_catalogue(device);
  }
}

/// How much of a product's time its best kernel is expected to save; 0 where that is not known.
double expected_gain(const select::Catalogue& known, const RecordedProduct& product) {
  try {
    const select::Ranking ranking = select::rank(
        known, {.family = std::string(type_of(product)->family), .size = shown_product(product)});
    const auto library = std::ranges::find(ranking.answers, nullptr, &select::Selection::kernel);
    if (ranking.answers.empty() || library == ranking.answers.end()) return 0;
    const select::Selection& best = ranking.answers.front();
    if (best.kernel == nullptr || !best.expected_ns || !library->expected_ns) return 0;
    return std::max(0.0, 1 - *best.expected_ns / *library->expected_ns);
  } catch (const Error&) {  // no size of the family's
    return 0;
  }
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
      if (!can_be_tuned(it) || type_of(it)->family != family) continue;
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
  const int exit_code = run_program(options.program);
  const RecordedCalls calls = read_recordings(folder.path());
  if (calls.products.empty()) {
    tell("record: the program computed no product with cuBLAS\n");
    return exit_code;
  }
  const std::string suite = suite_text(calls, options.program);
  if (!options.output.empty() && !suite.empty()) write_file(options.output, suite);
  // On stderr: the standard output is the program's.
  const Terminal terminal(STDERR_FILENO, common.color);
  tell("\n" + table_text(calls, terminal) + "\n" +
       wrapped_lines(summary(common, calls), terminal.width()));
  if (options.output.empty()) return exit_code;
  if (suite.empty()) {
    tell(fmt::format("{} was not written: no product can be tuned\n", options.output));
  }
  for (const std::string_view family : families_of(calls)) {
    tell(fmt::format("To tune those of {0}: tune --space spaces/{0}.json --sizes {1}\n", family,
                     options.output));
  }
  return exit_code;
}

int exec(const CommonOptions& common, const ExecOptions& options) {
  set_preloading(common, "serve");
  become_program(options.program);
}

}  // namespace tuner::cli
