// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/table.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

namespace tuner::report {

Json make_table(std::initializer_list<Column> columns) {
  Json table = {{"columns", Json::array()}, {"rows", Json::array()}};
  for (const Column& column : columns) {
    table["columns"].push_back(
        Json{{"key", column.key}, {"label", column.label}, {"kind", column.kind}});
  }
  return table;
}

void drop_empty_columns(Json& table) {
  for (std::size_t i = table["columns"].size(); i-- > 0;) {
    const auto is_empty = [i](const Json& row) { return row[i].is_null(); };
    if (!std::ranges::all_of(table["rows"], is_empty)) continue;
    table["columns"].erase(i);
    for (Json& row : table["rows"]) row.erase(i);
  }
}

double rounded(double value, int digits) {
  if (value == 0 || !std::isfinite(value)) return value;
  const int magnitude = static_cast<int>(std::floor(std::log10(std::abs(value))));
  // Dividing by a power of ten, not multiplying by its inverse, gives the nearest decimal.
  const double scale = std::pow(10.0, std::abs(digits - 1 - magnitude));
  return magnitude < digits ? std::round(value * scale) / scale : std::round(value / scale) * scale;
}

Json cell(const std::optional<double>& value) {
  return value ? Json(rounded(*value)) : Json();
}

Json make_section(std::string_view kind, Json table) {
  return Json{{"kind", kind}, {"table", std::move(table)}};
}

}  // namespace tuner::report
