// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace tuner::cli {

/// Columns aligned by the width of their widest cell, for a terminal. Cells are UTF-8; every code
/// point counts as one column.
class Table {
 public:
  enum class Align { left, right };
  struct Column {
    std::string heading;
    Align align = Align::left;
  };

  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}
  /// One cell for every column. What a terminal would act upon is shown as an escape.
  void add(std::vector<std::string> row);
  /// The heading and the rows, each ending in a newline, without trailing spaces.
  [[nodiscard]] std::string text() const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace tuner::cli
