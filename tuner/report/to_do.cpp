// SPDX-License-Identifier: Apache-2.0
#include "tuner/core/shell_words.hpp"
#include "tuner/report/family_section.hpp"
#include "tuner/report/format.hpp"
#include "tuner/report/kernel_sections.hpp"
#include "tuner/report/metric.hpp"
#include "tuner/report/size_sections.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

namespace tuner::report {
namespace {

constexpr std::size_t kMostNamed = 5;
constexpr double kHalf = 0.5;  // of a roof: a family whose median is below it is far from its roof

/// A command for each kernel that is best at one of these sizes: a run, or another command of tune.
Json commands_for(const std::vector<const Row*>& rows, std::string_view command = "") {
  std::map<const KernelHistory*, std::string> sizes;
  std::vector<const KernelHistory*> order;
  for (const Row* row : rows) {
    const KernelHistory* kernel = row->entries.front().kernel;
    const auto [at, is_new] = sizes.try_emplace(kernel);
    if (is_new) order.push_back(kernel);
    at->second += " --size " + row->problem;
  }
  Json commands = Json::array();
  for (const KernelHistory* kernel : order) {
    // A final round is for each size that lacks one.
    const std::string backend = kernel->runs.empty() ? "" : kernel->runs.back().backend;
    commands.push_back(fmt::format("tune {}--kernel {} --space {}{}{}", command,
                                   shell_word(kernel->kernel), space_file(*kernel),
                                   space::runs_on_host(backend) ? " --backend " + backend : "",
                                   command.empty() ? sizes[kernel] : ""));
  }
  return commands;
}

std::vector<const Row*> with(const std::vector<Row>& rows, std::string_view warning) {
  std::vector<const Row*> found;
  for (const Row& row : rows) {
    if (!row.entries.empty() && has(row, warning)) found.push_back(&row);
  }
  return found;
}

/// "1×2112×7168, TRANS_B=1 (tf32)": with its type, also where that is the default.
std::string size_and_type(const Row& row) {
  std::string label = format_size(row.problem);
  if (row.type.empty()) return label;
  const std::size_t value = label.find("=" + row.type);
  const std::size_t end = value + 1 + row.type.size();
  if (value != std::string::npos && (end == label.size() || label[end] == ',')) {
    const std::size_t begin = label.rfind(", ", value);
    if (begin != std::string::npos) label.erase(begin, end - begin);
  }
  return fmt::format("{} ({})", label, row.type);
}

/// The first of some sizes, named with a value each, and how many are left.
template <class ValueOf>
std::string named(const std::vector<const Row*>& rows, const ValueOf& value_of) {
  std::vector<std::string> texts;
  for (const Row* row : rows) {
    if (texts.size() == kMostNamed) break;
    texts.push_back(fmt::format("{} {}", size_and_type(*row), value_of(*row)));
  }
  const std::size_t others = rows.size() - texts.size();
  return fmt::format("{}{}", fmt::join(texts, "; "),
                     others > 0 ? fmt::format("; and {} more", format_count(others)) : "");
}

std::vector<const Row*> first_of(std::vector<const Row*> rows) {
  rows.resize(std::min(rows.size(), kMostNamed));
  return rows;
}

/// Of one list.
class ToDo {
 public:
  explicit ToDo(std::string_view type) : type_(type) {}

  void add(const std::vector<const Row*>& concerned, const std::string& text, Json commands,
           std::string_view state, std::string_view sort = "") {
    if (concerned.empty()) return;
    const bool are_some = !sort.empty() && concerned.size() > kMostNamed;
    list_.push_back(Json{{"type", type_},
                         {"text", text},
                         {"commands", std::move(commands)},
                         {"note", are_some ? "The commands are of the sizes named." : ""},
                         {"show", {{"state", state}, {"sort", sort}}}});
  }
  [[nodiscard]] const Json& list() const { return list_; }

 private:
  std::string type_;
  Json list_ = Json::array();
};

void add_unfinished(ToDo& list, const std::vector<Row>& rows) {
  const auto screened = with(rows, "screened");
  list.add(screened,
           fmt::format("{} screening times only: re-time the fastest.",
                       format_plural(screened.size(), "size has", "sizes have")),
           commands_for(screened, "finalize "), "screened");
  const auto few = with(rows, "few trials");
  list.add(few,
           fmt::format("{} fewer than {} trials in the latest run: search longer.",
                       format_plural(few.size(), "size has", "sizes have"), kFewestTrials),
           commands_for(few), "few trials");
  const auto improving = with(rows, "improving");
  list.add(improving,
           fmt::format("{} still improving in the last fifth of the latest run: search longer.",
                       format_plural(improving.size(), "size was", "sizes were")),
           commands_for(improving), "improving");
}

void add_behind(ToDo& list, const std::vector<Row>& rows, const std::string& library) {
  auto behind = with(rows, "behind");
  const auto ratio = [](const Row* row) { return *ratio_of(*row->best()); };
  std::ranges::stable_sort(behind, {}, ratio);
  list.add(behind,
           fmt::format(
               "{} behind {}, which the dispatcher calls there: {}. A longer search, or "
               "another kernel, may change that.",
               format_plural(behind.size(), "size is", "sizes are"), library,
               named(behind, [&](const Row& row) { return fmt::format("{:.3f}×", ratio(&row)); })),
           commands_for(first_of(behind)), "behind", "ratio");
}

/// Of a family that has no library to be behind of.
void add_far_from_roof(ToDo& list, const std::vector<Row>& rows, const Roofs& roofs) {
  std::vector<double> shares;
  std::vector<const Row*> far;
  for (const Row& row : rows) {
    const auto share = row.best() == nullptr ? std::nullopt : share_of_roof(row, roofs);
    if (!share) continue;
    shares.push_back(*share);
    if (*share < kHalf) far.push_back(&row);
  }
  const auto median = median_of(shares);
  if (!median || *median >= kHalf) return;
  std::ranges::stable_sort(far, std::greater(),
                           [](const Row* row) { return *ranking_ns(*row->best()); });
  const auto counted = static_cast<std::uint64_t>(far.size());
  list.add(
      far,
      fmt::format(
          "No library was timed here, and {} less than half of the roof, the longest: "
          "{}. A longer search, or another kernel, may change that.",
          format_plural(counted, "size reaches", "sizes reach"),
          named(far, [&](const Row& row) { return format_percent(*share_of_roof(row, roofs)); })),
      commands_for(first_of(far)), "", "roof");
}

}  // namespace

Json to_do(const std::vector<Row>& rows, std::string_view type, const Roofs& roofs,
           const std::string& library) {
  std::vector<Row> some;
  std::ranges::copy_if(rows, std::back_inserter(some),
                       [&](const Row& row) { return type.empty() || row.type == type; });
  ToDo list(type);
  add_unfinished(list, some);
  add_behind(list, some, library);
  if (library.empty()) add_far_from_roof(list, some, roofs);
  return list.list();
}

}  // namespace tuner::report
