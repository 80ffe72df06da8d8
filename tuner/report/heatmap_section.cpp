// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/size_sections.hpp"
#include "tuner/report/table.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>
#include <set>

namespace tuner::report {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();
constexpr std::size_t kMostAxes = 6;

std::optional<double> as_number(const std::string& text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// Numbers by size, then words by alphabet.
bool value_less(const std::string& a, const std::string& b) {
  const auto x = as_number(a), y = as_number(b);
  if (x && y) return *x < *y;
  if (x || y) return x.has_value();
  return a < b;
}

/// A parameter that took several values.
struct Axis {
  std::size_t parameter = 0;
  std::vector<std::string> values;
  std::vector<std::size_t> places = {};  ///< of each trial, among the values
};

Axis axis_of(const Configurations& configs, const SizeHistory& size, std::size_t parameter) {
  const auto value = [&](std::uint32_t place) { return configs.value_at(parameter, place); };
  std::set<std::uint32_t> taken;
  for (const ReportedTrial& trial : size.evaluations) {
    taken.insert(configs.place(trial.config, parameter));
  }
  std::vector<std::uint32_t> sorted(taken.begin(), taken.end());
  std::ranges::sort(sorted, value_less, value);
  std::vector<std::size_t> places(configs.places(parameter));  // on the axis
  Axis axis{.parameter = parameter, .values = {}};
  for (const std::uint32_t place : sorted) {
    places[place] = axis.values.size();
    axis.values.push_back(value(place));
  }
  for (const ReportedTrial& trial : size.evaluations) {
    axis.places.push_back(places[configs.place(trial.config, parameter)]);
  }
  return axis;
}

std::vector<Axis> most_important(const Configurations& configs, const SizeHistory& size,
                                 const Importances& ranked) {
  if (!ranked) return {};
  std::vector<Axis> axes;
  for (const Importance& one : *ranked) {
    if (axes.size() == kMostAxes) break;
    axes.push_back(axis_of(configs, size, one.parameter));
  }
  return axes;
}

struct Cell {
  double best_ns = kNever;
  std::uint64_t tried = 0, succeeded = 0;
};

/// Rows [x, y, value, succeeded, tried], the best first; x and y are positions among the values.
Json pair_rows(const SizeHistory& size, const Axis& x, const Axis& y, const Metric& metric) {
  std::vector<Cell> cells(x.values.size() * y.values.size());
  for (std::size_t i = 0; i < size.evaluations.size(); ++i) {
    const ReportedTrial& evaluation = size.evaluations[i];
    Cell& cell = cells[x.places[i] * y.values.size() + y.places[i]];
    ++cell.tried;
    if (!evaluation.time) continue;
    ++cell.succeeded;
    cell.best_ns = std::min(cell.best_ns, evaluation.ranking_ns);
  }
  std::vector<std::size_t> sorted;
  for (std::size_t at = 0; at < cells.size(); ++at) {
    if (cells[at].tried > 0) sorted.push_back(at);
  }
  const auto faster = [&](std::size_t a, std::size_t b) {
    return cells[a].best_ns < cells[b].best_ns;
  };
  std::ranges::stable_sort(sorted, faster);
  Json rows = Json::array();
  for (const std::size_t at : sorted) {
    const Cell& cell = cells[at];
    Json value;
    if (cell.best_ns != kNever) {
      value = rounded(metric.rate(size, cell.best_ns).value_or(cell.best_ns), 4);
    }
    rows.push_back({at / y.values.size(), at % y.values.size(), value, cell.succeeded, cell.tried});
  }
  return rows;
}

}  // namespace

Json heatmap_section(const KernelHistory& kernel, const SizeHistory& size, const Metric& metric,
                     const Importances& ranked) {
  const std::vector<Axis> axes = most_important(kernel.configs, size, ranked);
  const bool rated = metric.work_of(size).has_value();
  Json section =
      make_section("heatmap", make_table({{"x", "", "code"},
                                          {"y", "", "code"},
                                          {"best", rated ? std::string_view(metric.unit) : "Time",
                                           rated ? "number" : "time"},
                                          {"succeeded", "Succeeded", "count"},
                                          {"tried", "Tried", "count"}}));
  section["higher_is_better"] = rated;
  section["parameters"] = Json::array();
  for (const Axis& axis : axes) {
    section["parameters"].push_back(
        Json{{"name", kernel.parameters[axis.parameter]}, {"values", axis.values}});
  }
  section["pairs"] = Json::array();
  for (std::size_t x = 0; x < axes.size(); ++x) {
    for (std::size_t y = x + 1; y < axes.size(); ++y) {
      section["pairs"].push_back(
          Json{{"x", x}, {"y", y}, {"rows", pair_rows(size, axes[x], axes[y], metric)}});
    }
  }
  return section;
}

}  // namespace tuner::report
