// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/standing.hpp"

#include "tuner/report/format.hpp"
#include "tuner/report/table.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tuner::report {
namespace {

std::optional<double> ratio_to_library(const SizeHistory& size) {
  return size.best ? size.best->ratio_to_library : std::nullopt;
}

/// [low, high] over sizes that know the ratio; null when fewer than two do.
Json range(const std::vector<const SizeHistory*>& sizes,
           std::optional<double> (*ratio)(const SizeHistory&)) {
  std::vector<double> values;
  for (const SizeHistory* size : sizes) {
    if (const auto value = ratio(*size)) values.push_back(*value);
  }
  if (values.size() < 2) return {};
  const auto [low, high] = std::ranges::minmax(values);
  return {rounded(low), rounded(high)};
}

}  // namespace

Json result_of(const SizeHistory& size, const Metric& metric) {
  const std::optional<double> ns = ranking_ns(size);
  if (!ns) return {};
  return Json{{"ns", rounded(*ns)},
              {"rate", cell(metric.rate(size, *ns))},
              {"unit", metric.unit},
              {"measure", ranking_measure(size)},
              {"confirmed", size.best.has_value()},
              {"library", size.best ? library_brand(size.best->library_name) : ""},
              {"ratio", cell(ratio_to_library(size))},
              {"gain", cell(cold_gain(size))},
              {"ties", size.best ? size.best->ties : 0}};
}

Json largest_result(const KernelHistory& kernel, const Metric& metric) {
  const auto has_result = [](const SizeHistory& size) { return best_ns(size).has_value(); };
  const auto largest = std::find_if(kernel.sizes.rbegin(), kernel.sizes.rend(), has_result);
  const SizeHistory& size = largest == kernel.sizes.rend() ? kernel.sizes.back() : *largest;
  return Json{{"label", format_size(size.problem)}, {"result", result_of(size, metric)}};
}

Json ranges_by_type(const KernelHistory& kernel) {
  std::map<std::string, std::vector<const SizeHistory*>> types;
  for (const SizeHistory& size : kernel.sizes) {
    types[kernel.types.at(size.problem)].push_back(&size);
  }
  Json ranges = Json::array();
  for (const auto& [type, sizes] : types) {
    const auto known = std::ranges::find_if(
        sizes, [](const SizeHistory* size) { return ratio_to_library(*size).has_value(); });
    ranges.push_back(
        Json{{"type", type},
             {"sizes", sizes.size()},
             {"library", known == sizes.end() ? "" : library_brand((*known)->best->library_name)},
             {"ratio", range(sizes, ratio_to_library)},
             {"gain", range(sizes, cold_gain)}});
  }
  return ranges;
}

std::string library_brand(std::string_view library_name) {
  if (library_name.empty()) return "the library";
  return std::string(library_name.substr(0, library_name.find(' ')));
}

}  // namespace tuner::report
