// SPDX-License-Identifier: Apache-2.0
#include "tuner/verify/records.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstring>

namespace tuner::verify {
namespace {

/// A number whose order is that of the numbers of a type that such bits are.
std::uint64_t sort_key(family::ElementType type, std::uint64_t bits) {
  const family::ElementTypeRow& row = family::row(type);
  const std::uint64_t sign = std::uint64_t{1} << (row.bits - 1);
  if (row.kind == family::NumberKind::unsigned_integer) return bits;
  if (row.kind == family::NumberKind::signed_integer) return bits ^ sign;
  const family::FloatFormat& format = row.format;
  const std::uint64_t unused = (std::uint64_t{1} << format.unused_bits) - 1;
  const std::uint64_t magnitude = bits & (sign - 1) & ~unused;
  const std::uint64_t all = (std::uint64_t{1} << (format.exponent_bits + format.fraction_bits)) - 1;
  const std::uint64_t fraction = (std::uint64_t{1} << format.fraction_bits) - 1;
  const std::uint64_t largest = format.has_infinity ? all - fraction : all - 1;
  if (magnitude >> format.unused_bits > largest) return ~std::uint64_t{0};  // NaN
  return (bits & sign) != 0 ? sign - magnitude : sign + magnitude;
}

/// The numbers of a table's records in the order in which they decide.
class SortKeys {
 public:
  explicit SortKeys(const RecordTable& table) : table_(table) {
    for (const bool floating : {false, true}) {
      for (std::size_t c = 0; c < table.columns.size(); ++c) {
        const RecordColumn& column = table.columns[c];
        if (family::is_floating(column.type) != floating) continue;
        for (std::size_t i = 0; i < column.elements; ++i) components_.push_back({&column, i, c});
      }
    }
    keys_.resize(table.records * components_.size());
    for (std::size_t record = 0; record < table.records; ++record) {
      for (std::size_t i = 0; i < components_.size(); ++i) {
        keys_[record * components_.size() + i] =
            sort_key(components_[i].column->type, bits(record, i));
      }
    }
  }

  [[nodiscard]] std::uint64_t first(std::size_t record) const {
    return keys_[record * components_.size()];
  }
  /// Below 0, 0 or above 0, as a record is before one of another table, equal to it or behind it.
  [[nodiscard]] int compare(std::size_t record, const SortKeys& other, std::size_t its,
                            RecordEquality equality, const RecordTable* allowed = nullptr) const {
    const std::size_t size = components_.size();
    for (std::size_t i = 0; i < size; ++i) {
      const std::uint64_t a = keys_[record * size + i], b = other.keys_[its * size + i];
      if (a != b && !is_near(record, other, its, i, allowed)) return a < b ? -1 : 1;
    }
    for (std::size_t i = 0; equality == RecordEquality::of_bits && i < size; ++i) {
      const std::uint64_t a = bits(record, i), b = other.bits(its, i);
      if (a != b) return a < b ? -1 : 1;
    }
    return 0;
  }

 private:
  struct Component {
    const RecordColumn* column;
    std::size_t element;  // of a record
    std::size_t place;    // of the column
  };
  [[nodiscard]] std::uint64_t bits(std::size_t record, std::size_t component) const {
    const auto& [column, element, place] = components_[component];
    return column->bits(record * column->elements + element);
  }
  /// Whether a number is as near to one of another table as is allowed of this one.
  [[nodiscard]] bool is_near(std::size_t record, const SortKeys& other, std::size_t its,
                             std::size_t component, const RecordTable* allowed) const {
    const auto& [column, element, place] = components_[component];
    if (allowed == nullptr || allowed->columns[place].bytes.empty()) return false;
    const RecordColumn& errors = allowed->columns[place];
    const double a = family::number_of(column->type, bits(record, component));
    const double b = family::number_of(column->type, other.bits(its, component));
    return std::abs(a - b) <=
           family::number_of(errors.type, errors.bits(record * column->elements + element));
  }

  const RecordTable& table_;
  std::vector<Component> components_;
  std::vector<std::uint64_t> keys_;
};

/// The records of a sorted table that are not compared in place.
class SortedRecords {
 public:
  SortedRecords(const RecordTable& table, std::span<const std::uint32_t> rows)
      : rows_(rows), keys_(table) {
    for (std::size_t i = 0; i < table.records; ++i) {
      if (rows[i] < kInPlace) places_.push_back(i);
    }
  }

  [[nodiscard]] std::size_t size() const { return places_.size(); }
  [[nodiscard]] std::size_t place(std::size_t i) const { return places_[i]; }
  /// As SortKeys::compare; the end is behind all.
  [[nodiscard]] int compare(std::size_t i, const SortedRecords& other, std::size_t j,
                            RecordEquality equality, const RecordTable* allowed = nullptr) const {
    if (i == size() || j == other.size()) return i == size() ? 1 : -1;
    const std::uint32_t row = rows_[places_[i]], its_row = rows_[other.places_[j]];
    if (row != its_row) return row < its_row ? -1 : 1;
    return keys_.compare(places_[i], other.keys_, other.places_[j], equality, allowed);
  }
  /// The number of records from this one on that are equal to it.
  [[nodiscard]] std::size_t equal_from(std::size_t i, RecordEquality equality) const {
    std::size_t end = i + 1;
    while (end < size() && compare(i, *this, end, equality) == 0) ++end;
    return end - i;
  }

 private:
  std::span<const std::uint32_t> rows_;
  SortKeys keys_;
  std::vector<std::size_t> places_;
};

struct SortItem {
  std::uint32_t row, place;
  std::uint64_t key;  // the first one
};

void move_records(RecordTable& table, std::span<const std::uint32_t> rows,
                  std::span<const std::uint32_t> from) {
  for (RecordColumn& column : table.columns) {
    const std::size_t bytes =
        family::bytes_of(column.type, static_cast<std::int64_t>(column.elements));
    const std::vector<std::byte> before = column.bytes;
    for (std::size_t i = 0; i < table.records; ++i) {
      if (rows[i] == kIgnored) {
        std::memset(&column.bytes[i * bytes], 0, bytes);
      } else {
        std::memcpy(&column.bytes[i * bytes], &before[from[i] * bytes], bytes);
      }
    }
  }
}

}  // namespace

std::uint64_t RecordColumn::bits(std::size_t element) const {
  const std::size_t size = family::element_bytes(type);
  std::uint64_t value = 0;
  std::memcpy(&value, &bytes[element * size], size);
  return value;
}

std::string record_text(const RecordTable& table, std::size_t record) {
  std::vector<std::string> values;
  for (const RecordColumn& column : table.columns) {
    for (std::size_t i = 0; i < column.elements; ++i) {
      values.push_back(bits_text(column.type, column.bits(record * column.elements + i)));
    }
  }
  return values.size() == 1 ? "value " + values.front()
                            : fmt::format("record ({})", fmt::join(values, ", "));
}

std::string bits_text(family::ElementType type, std::uint64_t bits) {
  const family::ElementTypeRow& row = family::row(type);
  if (row.kind == family::NumberKind::unsigned_integer) return fmt::format("{}", bits);
  if (row.kind == family::NumberKind::signed_integer) {
    const int unused = 64 - row.bits;
    return fmt::format("{}", static_cast<std::int64_t>(bits << unused) >> unused);
  }
  const double value = family::number_of(type, bits);
  if (std::isnan(value)) return "NaN";  // which has no sign worth showing
  if (std::isinf(value)) return value > 0 ? "infinity" : "-infinity";
  return row.bits == 64 ? fmt::format("{}", value) : fmt::format("{}", static_cast<float>(value));
}

std::vector<std::uint32_t> sort_records(RecordTable& table, std::span<const std::uint32_t> rows) {
  std::vector<std::uint32_t> from(table.records);
  std::vector<SortItem> items;
  {
    const SortKeys keys(table);
    for (std::size_t i = 0; i < table.records; ++i) {
      from[i] = static_cast<std::uint32_t>(i);
      if (rows[i] < kInPlace) items.push_back({rows[i], from[i], keys.first(i)});
    }
    std::ranges::sort(items, [&](const SortItem& a, const SortItem& b) {
      if (a.row != b.row) return a.row < b.row;
      if (a.key != b.key) return a.key < b.key;
      return keys.compare(a.place, keys, b.place, RecordEquality::of_bits) < 0;
    });
  }
  // Rows ascend, so that the places of all sorted records do.
  for (std::size_t i = 0, next = 0; i < table.records; ++i) {
    if (rows[i] < kInPlace) from[i] = items[next++].place;
  }
  move_records(table, rows, from);
  return from;
}

std::optional<RecordDifference> first_difference(const RecordTable& expected,
                                                 const RecordTable& found,
                                                 std::span<const std::uint32_t> rows,
                                                 RecordEquality equality,
                                                 const RecordTable* allowed) {
  const SortedRecords right(expected, rows), is(found, rows);
  std::optional<RecordDifference> first;
  std::optional<std::size_t> surplus;
  std::size_t i = 0, j = 0;  // of those expected, of those found
  while (i < right.size() || j < is.size()) {
    const int order = right.compare(i, is, j, equality, allowed);
    // All that are equal at once.
    const std::size_t wanted = order > 0 ? 0 : allowed ? 1 : right.equal_from(i, equality);
    const std::size_t number = order < 0 ? 0 : allowed ? 1 : is.equal_from(j, equality);
    if (number > wanted && !surplus) surplus = is.place(j + wanted);
    if (wanted > number && !first) {
      first.emplace(RecordDifference{.record = record_text(expected, right.place(i)),
                                     .row = rows[right.place(i)],
                                     .expected = wanted,
                                     .found = number});
    }
    if (wanted > number) first->missing += wanted - number;
    i += wanted;
    j += number;
  }
  // There are as many of each, so that where one is missing another is too many.
  if (first) first->first_surplus = surplus.value();
  return first;
}

}  // namespace tuner::verify
