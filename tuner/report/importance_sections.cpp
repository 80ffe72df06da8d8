// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/format.hpp"
#include "tuner/report/size_sections.hpp"
#include "tuner/report/table.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace tuner::report {
namespace {

std::string interval(const Importance& one) {
  return fmt::format("{} to {}", format_percent(one.low), format_percent(one.high));
}

/// "A explains 60 % of the variance of log time (95 %: 50 % to 70 %), B 20 % (10 % to 30 %)".
std::string answer(const KernelHistory& kernel, std::string_view variance,
                   const Importances& ranked, std::uint64_t trials) {
  if (trials < kFewestTrials) {
    return fmt::format("Unknown: {} successful trials are needed; there {} {}.", kFewestTrials,
                       trials == 1 ? "is" : "are", format_count(trials));
  }
  if (!ranked || ranked->empty()) return "No parameter changed the time.";
  const Importance& first = ranked->front();
  std::string text =
      fmt::format("{} explains {} of the {} (95\u00a0%: {})", kernel.parameters[first.parameter],
                  format_percent(first.share), variance, interval(first));
  if (ranked->size() > 1) {
    const Importance& second = (*ranked)[1];
    text += fmt::format(", {} {} ({})", kernel.parameters[second.parameter],
                        format_percent(second.share), interval(second));
    if (second.high >= first.low) text += "; their order is not certain";
  }
  return text + fmt::format(". From {} trials", format_count(trials));
}

/// Over sizes, then those that only single sizes rank.
std::vector<std::size_t> most_important_first(const KernelImportances& ranked) {
  std::vector<std::size_t> order;
  const auto add = [&order](const Importances& found) {
    if (!found) return;
    for (const Importance& one : *found) {
      if (std::ranges::find(order, one.parameter) == order.end()) order.push_back(one.parameter);
    }
  };
  add(ranked.over_sizes);
  for (const Importances& of_size : ranked.of_sizes) add(of_size);
  return order;
}

/// "Most important: TILE_M at 43 sizes, PAD at 2 sizes. Not known at 3 sizes: …".
std::string answer_by_size(const KernelHistory& kernel, const std::vector<std::size_t>& order,
                           const std::map<std::size_t, std::uint64_t>& first, std::size_t known) {
  std::vector<std::pair<std::uint64_t, std::size_t>> counted;
  for (const std::size_t parameter : order) {
    const auto found = first.find(parameter);
    if (found != first.end()) counted.emplace_back(found->second, parameter);
  }
  std::ranges::stable_sort(counted, std::greater(), [](const auto& it) { return it.first; });
  std::vector<std::string> parts;
  for (const auto& [count, parameter] : counted) {
    parts.push_back(fmt::format("{} at {}", kernel.parameters[parameter],
                                format_plural(count, "size", "sizes")));
  }
  std::string text;
  if (!parts.empty()) text = fmt::format("Most important: {}.", fmt::join(parts, ", "));
  const std::size_t unknown = kernel.sizes.size() - known;
  if (unknown == 0) return text;
  return fmt::format("{}{}Not known at {}: fewer than {} successful trials, or all as fast.", text,
                     text.empty() ? "" : " ", format_plural(unknown, "size", "sizes"),
                     kFewestTrials);
}

}  // namespace

Json importance_section(const KernelHistory& kernel, const SizeHistory& size,
                        const Importances& ranked) {
  Json table = make_table({{"parameter", "Parameter", "code"},
                           {"share", "Share of the variance", "share"},
                           {"low", "95\u00a0% from", "share"},
                           {"high", "to", "share"}});
  for (const Importance& one : ranked.value_or(std::vector<Importance>())) {
    table["rows"].push_back({kernel.parameters[one.parameter], rounded(one.share), rounded(one.low),
                             rounded(one.high)});
  }
  const std::uint64_t trials = working_trials(size);
  std::string text = answer(kernel, "variance of log time", ranked, trials);
  if (!table["rows"].empty()) text += ".";
  Json section = make_section("importance", "Importance of the parameters", text, std::move(table));
  section["trials"] = trials;
  return section;
}

Json importance_over_sizes(const KernelHistory& kernel, const KernelImportances& ranked) {
  std::vector<std::vector<double>> shares(kernel.parameters.size());
  for (const Importances& of_size : ranked.of_sizes) {
    if (!of_size) continue;
    for (const Importance& one : *of_size) shares[one.parameter].push_back(one.share);
  }
  Json table = make_table({{"parameter", "Parameter", "code"},
                           {"share", "Share of the variance", "share"},
                           {"low", "95\u00a0% from", "share"},
                           {"high", "to", "share"},
                           {"lowest", "Lowest of a size", "share"},
                           {"highest", "Highest", "share"},
                           {"sizes", "Sizes", "count"}});
  for (const Importance& one : ranked.over_sizes.value_or(std::vector<Importance>())) {
    const std::vector<double>& known = shares[one.parameter];
    const auto of_size = [&](auto extreme) {
      return known.empty() ? Json() : Json(rounded(*extreme(known)));
    };
    table["rows"].push_back(
        {kernel.parameters[one.parameter], rounded(one.share), rounded(one.low), rounded(one.high),
         of_size([](const auto& all) { return std::ranges::min_element(all); }),
         of_size([](const auto& all) { return std::ranges::max_element(all); }), known.size()});
  }
  std::uint64_t trials = 0, sizes = 0;
  for (const SizeHistory& size : kernel.sizes) {
    const std::uint64_t working = working_trials(size);
    trials += working;
    sizes += working > 0 ? 1U : 0U;
  }
  std::string text = answer(kernel, "variance of log time within sizes", ranked.over_sizes, trials);
  if (!table["rows"].empty()) {
    text += fmt::format(" at {}.", format_plural(sizes, "size", "sizes"));
  }
  Json section = make_section("importance_over_sizes", "Importance of the parameters over sizes",
                              text, std::move(table));
  section["trials"] = trials;
  section["sizes"] = sizes;
  return section;
}

Json importance_by_size(const KernelHistory& kernel, const KernelImportances& ranked) {
  const std::vector<std::size_t> order = most_important_first(ranked);
  Json table = make_table({{"size", "Size", "text"}});
  for (const std::size_t parameter : order) {
    table["columns"].push_back(
        Json{{"key", "parameter"}, {"label", kernel.parameters[parameter]}, {"kind", "share"}});
  }
  std::map<std::size_t, std::uint64_t> first;  // sizes, by parameter
  for (std::size_t i = 0; i < kernel.sizes.size(); ++i) {
    const Importances& of_size = ranked.of_sizes[i];
    if (!of_size || of_size->empty()) continue;
    if (of_size->front().share > 0) ++first[of_size->front().parameter];
    Json row = {format_size(kernel.sizes[i].problem)};
    for (const std::size_t parameter : order) {
      const auto found = std::ranges::find(*of_size, parameter, &Importance::parameter);
      row.push_back(found == of_size->end() ? Json() : Json(rounded(found->share, 3)));
    }
    table["rows"].push_back(std::move(row));
  }
  const std::string text = answer_by_size(kernel, order, first, table["rows"].size());
  return make_section("importance_by_size", "Importance of the parameters size by size", text,
                      std::move(table));
}

}  // namespace tuner::report
