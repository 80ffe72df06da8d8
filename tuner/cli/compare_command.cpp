// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/commands.hpp"
#include "tuner/cli/compared_results.hpp"
#include "tuner/cli/format.hpp"
#include "tuner/cli/output.hpp"
#include "tuner/cli/sizes.hpp"
#include "tuner/cli/table.hpp"
#include "tuner/core/error.hpp"
#include "tuner/core/file.hpp"
#include "tuner/core/json.hpp"
#include "tuner/core/printable.hpp"
#include "tuner/core/quantity.hpp"
#include "tuner/report/comparison.hpp"
#include "tuner/report/report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <charconv>
#include <string_view>
#include <utility>

namespace tuner::cli {
namespace {

using Align = Table::Align;

using report::Change;
using report::ComparedSize;
using report::Comparison;

report::ComparedBy compared_by(const std::string& word) {
  require_word("--by", word, std::vector<std::string>{"time", "library"});
  return word == "time" ? report::ComparedBy::time : report::ComparedBy::library;
}

/// "3%" or "0.5 %" as a share of one.
double share(std::string_view text) {
  const std::string_view digits = text.substr(0, text.find_last_not_of("% ") + 1);
  double percent = 0;
  const char* const end = digits.data() + digits.size();
  const auto [after, error] =
      std::from_chars(digits.data(), end, percent, std::chars_format::fixed);
  if (!text.ends_with('%') || error != std::errc{} || after != end || !(percent >= 0) ||
      percent > 1e6) {
    throw Error(ErrorCode::usage,
                fmt::format("--fail-on: '{}' is not a share; write 3% or 0.5%", text));
  }
  return percent / 100;
}

/// Those that are slower by more than the share.
std::vector<ComparedSize> regressions(const Comparison& comparison, double share) {
  std::vector<ComparedSize> found;
  std::ranges::copy_if(comparison.sizes, std::back_inserter(found), [&](const ComparedSize& size) {
    return size.change == Change::slower && 1 / size.ratio.value > 1 + share;
  });
  return found;
}

Json environment_json(const store::Subject& of) {
  return {{"device", of.device.name},
          {"driver", of.environment.driver},
          {"compiler", of.environment.compiler},
          {"library", of.environment.library},
          {"tool", of.environment.tool}};
}

Json compared_side_json(const store::StoredBest& one) {
  Json json = environment_json(*one.subject);
  json["kernel"] = one.subject->kernel.kernel;
  json["kernel_hash"] = one.subject->kernel.hash;
  json["config"] = parse_json(one.best.config_json, "a stored configuration");
  json["median_ns"] = one.best.time.median_ns;
  json["recorded_at"] = one.best.recorded_at;
  json["verified"] = one.best.verified;
  json["shared"] = one.best.shared;
  return json;
}

std::string_view name(report::ComparedBy by) {
  return by == report::ComparedBy::time ? "time" : "library";
}

Json comparison_json(const Comparison& comparison) {
  Json document = {{"schema", "tune.compare/1"},
                   {"a", comparison.a.name},
                   {"b", comparison.b.name},
                   {"by", name(comparison.by)},
                   {"geometric_mean", number_or_null(report::geometric_mean(comparison.sizes))}};
  for (const Change change : {Change::slower, Change::uncertain, Change::faster, Change::same}) {
    document["changes"][std::string(name(change))] = report::count_of(comparison.sizes, change);
  }
  document["only_a"] = comparison.only_a;
  document["only_b"] = comparison.only_b;
  document["without_library"] = comparison.without_library;
  document["sizes"] = Json::array();
  for (const ComparedSize& size : comparison.sizes) {
    document["sizes"].push_back({{"family", size.b.subject->kernel.family},
                                 {"size", size.b.best.problem},
                                 {"change", name(size.change)},
                                 {"ratio", size.ratio.value},
                                 {"low", size.ratio.low},
                                 {"high", size.ratio.high},
                                 {"library_ratio", number_or_null(size.library)},
                                 {"a", compared_side_json(size.a)},
                                 {"b", compared_side_json(size.b)}});
  }
  return document;
}

Color color_of(std::string_view change) {
  if (change == name(Change::slower)) return Color::red;
  if (change == name(Change::faster)) return Color::green;
  return change == name(Change::uncertain) ? Color::yellow : Color::none;
}

/// What the rows of a table have in common: "gemm on NVIDIA H200".
std::string heading_of(const ComparedSize& size) {
  const std::string &a = size.a.subject->device.name, &b = size.b.subject->device.name;
  return fmt::format("{} on {}", size.b.subject->kernel.family,
                     a == b ? a : fmt::format("{} → {}", a, b));
}

/// Empty where both sides use the same.
std::string changed_kernel(const ComparedSize& size) {
  const std::string &a = size.a.subject->kernel.kernel, &b = size.b.subject->kernel.kernel;
  return a == b ? "" : fmt::format("{} → {}", a, b);
}

Table table_of_sizes(const std::vector<const ComparedSize*>& sizes) {
  std::vector<Table::Column> columns = {{"B is", Align::left, Table::Place::in_row, color_of},
                                        {"size"},
                                        {"A cold", Align::right},
                                        {"B cold", Align::right},
                                        {"speed", Align::right},
                                        {"95 %", Align::right}};
  const bool kernels_change = std::ranges::any_of(
      sizes, [](const ComparedSize* size) { return !changed_kernel(*size).empty(); });
  if (kernels_change) columns.push_back({"kernel", Align::left, Table::Place::below});
  Table table(std::move(columns));
  for (const ComparedSize* size : sizes) {
    std::vector<std::string> row = {
        std::string(name(size->change)),
        shown_size(size->b.best.problem),
        quantity::time(size->a.best.time.median_ns),
        quantity::time(size->b.best.time.median_ns),
        fmt::format("×{:.3f}", size->ratio.value),
        fmt::format("{:.3f}–{:.3f}", size->ratio.low, size->ratio.high)};
    if (kernels_change) row.push_back(changed_kernel(*size));
    table.add(std::move(row));
  }
  return table;
}

void print_comparison(const Comparison& comparison, const Output& output) {
  for (const auto& [label, side] : {std::pair{"A", &comparison.a}, {"B", &comparison.b}}) {
    output.tell("{}  {}\n", label, printable_name(side->name));
    for (const std::string& words : report::described_environments(side->bests)) {
      output.tell("   {}\n", printable(words));
    }
  }
  std::vector<std::pair<std::string, std::vector<const ComparedSize*>>> groups;
  for (const ComparedSize& size : comparison.sizes) {
    const std::string heading = heading_of(size);
    auto group = std::ranges::find(groups, heading, &decltype(groups)::value_type::first);
    if (group == groups.end()) group = groups.insert(groups.end(), {heading, {}});
    group->second.push_back(&size);
  }
  for (const auto& [heading, sizes] : groups) {
    output.tell("\n{}\n", printable(heading));
    output.table(table_of_sizes(sizes));
  }
  output.print("\n");
  for (const std::string& sentence : report::comparison_sentences(comparison)) {
    output.tell("{}\n", sentence);
  }
}

void require_common_sizes(const Comparison& comparison) {
  if (!comparison.sizes.empty() || comparison.without_library > 0) return;
  const auto described = [](const report::ComparedResults& side) {
    return fmt::format("{}:\n  {}", side.name,
                       fmt::join(report::described_environments(side.bests), "\n  "));
  };
  throw Error(ErrorCode::nothing_found,
              fmt::format("A and B have no size in common on the same device\n{}\n{}",
                          described(comparison.a), described(comparison.b)));
}

}  // namespace

int compare(const CommonOptions& common, const CompareOptions& options) {
  const double allowed = options.fail_on.empty() ? 0 : share(options.fail_on);
  const report::ComparedBy by = compared_by(options.by);
  if (options.a == options.b) {
    throw Error(ErrorCode::usage, fmt::format("A and B are both '{}'", options.a));
  }
  report::ComparedResults a = compared_results(common, options.a);
  const Comparison comparison =
      report::compare(std::move(a), compared_results(common, options.b), by);
  require_common_sizes(comparison);
  if (!options.output.empty()) {
    write_file(options.output, report::render_page(report::comparison_document(comparison)));
  }
  const Output output(common);
  if (common.json) {
    fmt::print("{}", json_text(comparison_json(comparison)));
  } else {
    print_comparison(comparison, output);
  }
  if (options.fail_on.empty()) return 0;
  const std::vector<ComparedSize> slower = regressions(comparison, allowed);
  if (slower.empty()) return 0;
  tell(fmt::format("{} slower by more than {}\n",
                   slower.size() == 1 ? "1 size is" : fmt::format("{} sizes are", slower.size()),
                   options.fail_on));
  return static_cast<int>(ErrorCode::regression);
}

}  // namespace tuner::cli
