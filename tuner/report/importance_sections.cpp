// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/format.hpp"
#include "tuner/report/size_sections.hpp"
#include "tuner/report/table.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <utility>
#include <vector>

namespace tuner::report {
namespace {

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
  Json section = make_section("importance", std::move(table));
  section["trials"] = working_trials(size);
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
  Json section = make_section("importance_over_sizes", std::move(table));
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
  for (std::size_t i = 0; i < kernel.sizes.size(); ++i) {
    const Importances& of_size = ranked.of_sizes[i];
    if (!of_size || of_size->empty()) continue;
    Json row = {format_size(kernel.sizes[i].problem)};
    for (const std::size_t parameter : order) {
      const auto found = std::ranges::find(*of_size, parameter, &Importance::parameter);
      row.push_back(found == of_size->end() ? Json() : Json(rounded(found->share, 3)));
    }
    table["rows"].push_back(std::move(row));
  }
  Json section = make_section("importance_by_size", std::move(table));
  section["sizes"] = kernel.sizes.size();
  return section;
}

}  // namespace tuner::report
