// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/core/json.hpp"

#include <initializer_list>
#include <optional>
#include <string_view>

namespace tuner::report {

/// A column of a table of the document: how its cells are called in a download, titled on the page,
/// and read: "text", "code", "count", "time" (ns), "duration" (s), "number", "factor" or "share".
struct Column {
  std::string_view key;
  std::string_view label;
  std::string_view kind;
};

/// {"columns":[{key,label,kind}…],"rows":[]}: rows are arrays in the order of the columns, absent
/// values null. A chart draws from the same rows as its table shows.
[[nodiscard]] Json make_table(std::initializer_list<Column> columns);

/// Drops the columns that are null in every row.
void drop_empty_columns(Json& table);

/// Six significant digits: more than the page shows, fewer bytes than a double has.
[[nodiscard]] double rounded(double value, int digits = 6);

/// A number of a table, rounded; null when there is none.
[[nodiscard]] Json cell(const std::optional<double>& value);

/// A part of the page: {"kind","table"}; `kind` names the chart, and the sentence that the page's
/// script makes of the table and the part's other members.
[[nodiscard]] Json make_section(std::string_view kind, Json table);

}  // namespace tuner::report
