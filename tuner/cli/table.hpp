// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/cli/terminal.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace tuner::cli {

/// Columns aligned by the width of their widest cell, for a terminal. Cells are UTF-8; every code
/// point counts as one column.
class Table {
 public:
  enum class Align { left, right };
  /// The place of a cell in a table that is wider than the terminal.
  enum class Place {
    in_row,
    below,  ///< on lines of its own beneath its row: configurations, reasons
  };
  struct Column {
    std::string heading;
    Align align = Align::left;
    Place place = Place::in_row;
    Color (*color)(std::string_view cell) = nullptr;  ///< nullptr: none
  };

  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}
  /// One cell for every column. What a terminal would act upon is shown as an escape.
  void add(std::vector<std::string> row);
  [[nodiscard]] bool is_empty() const { return rows_.empty(); }
  /// The heading and the rows, each ending in a newline, without trailing spaces, no wider than the
  /// terminal: cells move below their row, then cells aligned left are wrapped, then columns
  /// follow in further tables, each with the columns that tell the rows apart.
  [[nodiscard]] std::string text(const Terminal& terminal) const;
  /// For a program: a line for each row, tabs between the cells.
  [[nodiscard]] std::string tab_separated() const;
  /// A table of Markdown.
  [[nodiscard]] std::string markdown() const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace tuner::cli
