// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/format.hpp"
#include "tuner/report/size_sections.hpp"
#include "tuner/report/table.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <charconv>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace tuner::report {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

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

/// A parameter that took several values, and how much it matters: the best time with its worst
/// value over the best time with its best value.
struct Axis {
  std::size_t parameter = 0;
  std::vector<std::string> values;
  double impact = 1;
};

Axis axis_of(const SizeHistory& size, std::size_t parameter) {
  std::map<std::string, double> best_by_value;
  for (const ReportedTrial& evaluation : size.evaluations) {
    double& best = best_by_value.try_emplace(evaluation.values[parameter], kNever).first->second;
    if (evaluation.trial.time) best = std::min(best, evaluation.trial.time->median_ns);
  }
  Axis axis{parameter, {}, 1};
  double low = kNever, high = 0;
  for (const auto& [value, best] : best_by_value) {
    axis.values.push_back(value);
    if (best == kNever) continue;
    low = std::min(low, best);
    high = std::max(high, best);
  }
  if (high > 0) axis.impact = high / low;
  std::sort(axis.values.begin(), axis.values.end(), value_less);
  return axis;
}

std::vector<Axis> axes_by_impact(const KernelHistory& kernel, const SizeHistory& size) {
  std::vector<Axis> axes;
  for (std::size_t i = 0; i < kernel.parameters.size(); ++i) {
    Axis axis = axis_of(size, i);
    if (axis.values.size() > 1) axes.push_back(std::move(axis));
  }
  const auto more = [](const Axis& a, const Axis& b) { return a.impact > b.impact; };
  std::stable_sort(axes.begin(), axes.end(), more);
  return axes;
}

struct Cell {
  double best_ns = kNever;
  std::uint64_t tried = 0, succeeded = 0;
};

std::size_t position(const Axis& axis, const std::string& value) {
  const auto found = std::lower_bound(axis.values.begin(), axis.values.end(), value, value_less);
  return static_cast<std::size_t>(found - axis.values.begin());
}

/// Rows [x, y, value, succeeded, tried], the best first; x and y are positions among the values.
Json pair_rows(const SizeHistory& size, const Axis& x, const Axis& y, const Metric& metric) {
  std::map<std::pair<std::size_t, std::size_t>, Cell> cells;
  for (const ReportedTrial& evaluation : size.evaluations) {
    Cell& cell = cells[{position(x, evaluation.values[x.parameter]),
                        position(y, evaluation.values[y.parameter])}];
    ++cell.tried;
    if (!evaluation.trial.time) continue;
    ++cell.succeeded;
    cell.best_ns = std::min(cell.best_ns, evaluation.trial.time->median_ns);
  }
  std::vector<std::pair<std::pair<std::size_t, std::size_t>, Cell>> sorted(cells.begin(),
                                                                           cells.end());
  const auto faster = [](const auto& a, const auto& b) {
    return a.second.best_ns < b.second.best_ns;
  };
  std::stable_sort(sorted.begin(), sorted.end(), faster);
  Json rows = Json::array();
  for (const auto& [at, cell] : sorted) {
    Json value;
    if (cell.best_ns != kNever) {
      value = rounded(metric.rate(size, cell.best_ns).value_or(cell.best_ns));
    }
    rows.push_back({at.first, at.second, value, cell.succeeded, cell.tried});
  }
  return rows;
}

std::string answer_of(const KernelHistory& kernel, const std::vector<Axis>& axes) {
  if (axes.size() < 2) return "Fewer than two parameters took several values.";
  return fmt::format("{} matters most (its worst value costs a factor of {}), then {} ({}).",
                     kernel.parameters[axes[0].parameter], format_factor(axes[0].impact),
                     kernel.parameters[axes[1].parameter], format_factor(axes[1].impact));
}

}  // namespace

Json heatmap_section(const KernelHistory& kernel, const SizeHistory& size, const Metric& metric) {
  const std::vector<Axis> axes = axes_by_impact(kernel, size);
  const bool rated = metric.work_of(size).has_value();
  Json section = make_section("heatmap", "Two parameters together", answer_of(kernel, axes),
                              make_table({{"x", "", "code"},
                                          {"y", "", "code"},
                                          {"best", rated ? std::string_view(metric.unit) : "Time",
                                           rated ? "number" : "time"},
                                          {"succeeded", "Succeeded", "count"},
                                          {"tried", "Tried", "count"}}));
  section["higher_is_better"] = rated;
  section["parameters"] = Json::array();
  for (const Axis& axis : axes) {
    section["parameters"].push_back(Json{{"name", kernel.parameters[axis.parameter]},
                                         {"values", axis.values},
                                         {"impact", rounded(axis.impact)}});
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
