// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/table.hpp"

#include "tuner/core/printable.hpp"

#include <algorithm>

namespace tuner::cli {
namespace {

std::size_t width(const std::string& cell) {
  return static_cast<std::size_t>(std::ranges::count_if(
      cell, [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

}  // namespace

void Table::add(std::vector<std::string> row) {
  for (std::string& cell : row) {
    cell = printable(cell);
    std::ranges::replace(cell, '\n', ' ');
  }
  rows_.push_back(std::move(row));
}

std::string Table::text() const {
  std::vector<std::string> headings;
  for (const Column& column : columns_) headings.push_back(column.heading);
  std::vector<std::size_t> widths(columns_.size());
  const auto measure = [&](const std::vector<std::string>& row) {
    for (std::size_t i = 0; i < widths.size(); ++i) widths[i] = std::max(widths[i], width(row[i]));
  };
  measure(headings);
  for (const auto& row : rows_) measure(row);

  std::string text;
  const auto write = [&](const std::vector<std::string>& row) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string padding(widths[i] - width(row[i]), ' ');
      if (i > 0) line += "  ";
      line += columns_[i].align == Align::right ? padding + row[i] : row[i] + padding;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  };
  write(headings);
  for (const auto& row : rows_) write(row);
  return text;
}

}  // namespace tuner::cli
