// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/table.hpp"

#include "tuner/core/printable.hpp"

#include <algorithm>
#include <cstddef>
#include <ranges>
#include <set>
#include <span>
#include <utility>

namespace tuner::cli {
namespace {

constexpr std::size_t kGap = 2;             // between columns
constexpr std::size_t kNarrowestCell = 16;  // of a column whose cells are wrapped
constexpr std::size_t kBelow = 4;           // how far cells below a row are indented

std::size_t longest_word(std::string_view text) {
  std::size_t longest = 0;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(' '));
    longest = std::max(longest, text_width(word));
    text.remove_prefix(std::min(word.size() + 1, text.size()));
  }
  return longest;
}

/// Some columns of a table as they are laid out.
class Layout {
 public:
  using Row = std::vector<std::string>;

  Layout(const std::vector<Table::Column>& columns, const std::vector<Row>& rows,
         const Terminal& terminal)
      : columns_(columns), rows_(rows), terminal_(terminal) {
    for (const Table::Column& column : columns) headings_.push_back(column.heading);
    for (std::size_t i = 0; i < columns.size(); ++i) {
      std::size_t widest = text_width(headings_[i]), word = longest_word(headings_[i]);
      for (const Row& row : rows) {
        widest = std::max(widest, text_width(row[i]));
        word = std::max(word, longest_word(row[i]));
      }
      widths_.push_back(widest);
      narrowest_.push_back(std::max(kNarrowestCell, word));
      in_row_.push_back(i);
    }
    natural_ = widths_;
  }

  std::string text() {
    if (!fits()) move_below();
    while (!fits() && shrink()) {
    }
    if (fits()) return table_of(in_row_, below_);
    widen();
    const std::vector<std::size_t> keys = keys_of_rows();
    const bool tells_rows_apart = differ_in(keys);
    std::string text;
    for (const auto& group : groups(keys)) {
      text += text.empty()       ? table_of(group, below_)
              : tells_rows_apart ? "\n" + table_of(group, {})
                                 : "\n" + table_of(group, below_);
    }
    return text;
  }

 private:
  [[nodiscard]] std::size_t width_of(const std::vector<std::size_t>& columns) const {
    std::size_t width = columns.empty() ? 0 : kGap * (columns.size() - 1);
    for (const std::size_t i : columns) width += widths_[i];
    return width;
  }

  [[nodiscard]] bool fits() const { return width_of(in_row_) <= terminal_.width(); }

  void move_below() {
    const auto is_below = [&](std::size_t i) { return columns_[i].place == Table::Place::below; };
    std::ranges::copy_if(in_row_, std::back_inserter(below_), is_below);
    std::erase_if(in_row_, is_below);
  }

  /// Narrows the widest column that can be wrapped as far as needed, to the width of the next one
  /// or its longest word at least. Whether there was one.
  bool shrink() {
    std::vector<std::size_t> wrapped;
    std::ranges::copy_if(in_row_, std::back_inserter(wrapped), [&](std::size_t i) {
      return columns_[i].align == Table::Align::left && widths_[i] > narrowest_[i];
    });
    if (wrapped.empty()) return false;
    const auto wider = [&](std::size_t a, std::size_t b) { return widths_[a] > widths_[b]; };
    std::ranges::stable_sort(wrapped, wider);
    const std::size_t next = wrapped.size() > 1 ? widths_[wrapped[1]] : 0;
    std::size_t& widest = widths_[wrapped[0]];
    const std::size_t excess = width_of(in_row_) - terminal_.width();
    const std::size_t least = std::max(narrowest_[wrapped[0]], std::min(next, widest - 1));
    widest = std::max(least, widest - std::min(excess, widest));
    return true;
  }

  /// Wrapping was not enough: gives columns their width back as far as two fit beside one another.
  void widen() {
    const std::size_t half = (terminal_.width() - kGap) / 2;
    for (std::size_t i = 0; i < widths_.size(); ++i) {
      widths_[i] = std::max(widths_[i], std::min(natural_[i], half));
    }
  }

  /// Whether no two rows are the same in these columns.
  [[nodiscard]] bool differ_in(const std::vector<std::size_t>& columns) const {
    std::set<Row> seen;
    return std::ranges::all_of(rows_, [&](const Row& row) {
      Row cells;
      for (const std::size_t i : columns) cells.push_back(row[i]);
      return seen.insert(std::move(cells)).second;
    });
  }

  /// What each further table begins with: as many of the columns aligned left before all others as
  /// tell the rows apart, if these do and leave place for another column; else the first one.
  [[nodiscard]] std::vector<std::size_t> keys_of_rows() const {
    std::vector<std::size_t> keys = {in_row_[0]};
    if (in_row_.size() == 1) return keys;
    while (!differ_in(keys)) {
      const std::size_t next = keys.size();
      if (next + 1 >= in_row_.size() || columns_[in_row_[next]].align == Table::Align::right) {
        return {in_row_[0]};
      }
      keys.push_back(in_row_[next]);
    }
    const auto rest = std::span(in_row_).subspan(keys.size());
    const std::size_t widest = std::ranges::max(
        rest | std::views::transform([this](std::size_t i) { return widths_[i]; }));
    const bool fit = width_of(keys) + kGap + widest <= terminal_.width();
    return fit ? keys : std::vector{in_row_[0]};
  }

  /// The keys with as many others as fit beside them, until each has its place.
  [[nodiscard]] std::vector<std::vector<std::size_t>> groups(
      const std::vector<std::size_t>& keys) const {
    std::vector<std::vector<std::size_t>> groups;
    for (std::size_t k = keys.size(); k < in_row_.size(); ++k) {
      if (!groups.empty()) {
        std::vector<std::size_t> wider = groups.back();
        wider.push_back(in_row_[k]);
        if (width_of(wider) <= terminal_.width()) {
          groups.back() = std::move(wider);
          continue;
        }
      }
      groups.push_back(keys);
      groups.back().push_back(in_row_[k]);
    }
    return groups;
  }

  /// A row, whose cells may take several lines.
  [[nodiscard]] std::string row_of(const Row& row, const std::vector<std::size_t>& columns,
                                   const std::vector<std::size_t>& below, bool is_heading) const {
    std::vector<std::vector<std::string>> cells;
    std::size_t height = 1;
    for (const std::size_t i : columns) {
      cells.push_back(wrapped(row[i], widths_[i]));
      height = std::max(height, cells.back().size());
    }
    std::string text;
    for (std::size_t nth = 0; nth < height; ++nth) {
      std::string line;
      std::size_t column = 0, end = 0;  // of the line, in columns of the terminal
      for (std::size_t k = 0; k < columns.size(); ++k) {
        const std::string part = nth < cells[k].size() ? cells[k][nth] : "";
        const std::size_t i = columns[k], width = text_width(part);
        if (!part.empty()) {
          const std::size_t free = widths_[i] - std::min(width, widths_[i]);
          const std::size_t begin = column + (columns_[i].align == Table::Align::right ? free : 0);
          line +=
              std::string(begin - std::min(begin, end), ' ') + colored(part, row[i], i, is_heading);
          end = begin + width;
        }
        column += widths_[i] + kGap;
      }
      text += line + "\n";
    }
    for (const std::size_t i : below) {
      for (const std::string& line : wrapped(row[i], terminal_.width() - kBelow)) {
        if (!line.empty()) {
          text += std::string(kBelow, ' ') + colored(line, row[i], i, is_heading) + "\n";
        }
      }
    }
    return text;
  }

  [[nodiscard]] std::string colored(const std::string& part, const std::string& cell, std::size_t i,
                                    bool is_heading) const {
    if (is_heading) return terminal_.colored(part, Color::bold);
    return columns_[i].color == nullptr ? part : terminal_.colored(part, columns_[i].color(cell));
  }

  [[nodiscard]] std::string table_of(const std::vector<std::size_t>& columns,
                                     const std::vector<std::size_t>& below) const {
    std::string text = row_of(headings_, columns, below, true);
    for (const Row& row : rows_) text += row_of(row, columns, below, false);
    return text;
  }

  const std::vector<Table::Column>& columns_;
  const std::vector<Row>& rows_;
  const Terminal& terminal_;
  Row headings_;
  std::vector<std::size_t> natural_, narrowest_, widths_;  // of each column
  std::vector<std::size_t> in_row_, below_;                // which columns
};

}  // namespace

void Table::add(std::vector<std::string> row) {
  for (std::string& cell : row) {
    cell = printable(cell);
    std::ranges::replace(cell, '\n', ' ');
  }
  rows_.push_back(std::move(row));
}

std::string Table::tab_separated() const {
  std::string text;
  const auto add_cell = [&](std::string cell, bool is_last) {
    std::ranges::replace(cell, '\t', ' ');
    text += cell + (is_last ? '\n' : '\t');
  };
  for (const Column& column : columns_) add_cell(column.heading, &column == &columns_.back());
  for (const std::vector<std::string>& row : rows_) {
    for (const std::string& cell : row) add_cell(cell, &cell == &row.back());
  }
  return text;
}

std::string Table::markdown() const {
  const auto row_of = [](const auto& cells, const auto& text_of) {
    std::string line = "|";
    for (const auto& cell : cells) {
      for (const char c : text_of(cell)) {
        if (c == '|') line += '\\';
        line += c == '\n' ? ' ' : c;
      }
      line += '|';
    }
    return line + '\n';
  };
  std::string text = row_of(columns_, [](const Column& column) { return column.heading; });
  text += row_of(columns_, [](const Column& column) {
    return std::string(column.align == Align::right ? "---:" : "---");
  });
  for (const auto& row : rows_) text += row_of(row, [](const std::string& cell) { return cell; });
  return text;
}

std::string Table::text(const Terminal& terminal) const {
  return Layout(columns_, rows_, terminal).text();
}

}  // namespace tuner::cli
