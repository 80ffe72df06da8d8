// SPDX-License-Identifier: Apache-2.0
#include "tuner/verify/record_checker.hpp"

#include "tuner/core/error.hpp"
#include "tuner/core/quantity.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>

namespace tuner::verify {
namespace {

/// Whether an element is made of a word that fills its memory.
bool is_made_of(const RecordColumn& column, std::size_t element, std::uint32_t word) {
  const std::size_t size = family::element_bytes(column.type);
  for (std::size_t i = 0; i < size; ++i) {
    const std::size_t at = element * size + i;
    if (column.bytes[at] != static_cast<std::byte>(word >> 8 * (at % kWordBytes))) return false;
  }
  return true;
}

std::int64_t integer(family::ElementType type, std::uint64_t bits) {
  const int unused = 64 - family::bits(type);
  const bool is_signed = family::row(type).kind == family::NumberKind::signed_integer;
  const auto value = static_cast<std::int64_t>(bits << unused);
  return is_signed ? value >> unused : static_cast<std::int64_t>(bits);
}

/// Whether a record is one element.
bool is_of_elements(const RecordTable& table) {
  return table.columns.size() == 1 && table.columns[0].elements == 1;
}

std::string times(std::uint64_t number) {
  return quantity::count(number, "time");
}

}  // namespace

RecordChecker::RecordChecker(backend::Backend& backend, const ProblemData& problem,
                             const CheckedMemory& memory)
    : backend_(backend), problem_(problem), memory_(memory) {
  const std::vector<CheckedData>& all = memory.plan().data;
  for (const CheckedData& data : all) {
    if (data.rows) groups_.push_back({{&data}});
  }
  for (const CheckedData& data : all) {
    if (!data.records || data.records->as.empty()) continue;
    const auto group = std::ranges::find_if(
        groups_, [&](const Group& each) { return each.columns[0]->name == data.records->as; });
    group->columns.push_back(&data);
  }
}

const RecordChecker::Group& RecordChecker::group_of(const CheckedData& data) const {
  return *std::ranges::find_if(groups_, [&](const Group& group) {
    return std::ranges::any_of(group.columns, [&](const CheckedData* column) {
      return column->argument == data.argument;
    });
  });
}

RecordTable RecordChecker::read(const Group& group, Results results) const {
  RecordTable table;
  table.records = static_cast<std::size_t>(group.columns[0]->records->records);
  for (const CheckedData* data : group.columns) {
    RecordColumn& column = table.columns.emplace_back(
        RecordColumn{.name = data->name,
                     .type = data->type,
                     .elements = static_cast<std::size_t>(data->records->elements)});
    column.bytes.resize(data->size_bytes());
    backend_.read(results[data->argument], column.bytes);
  }
  return table;
}

void RecordChecker::write(const Group& group, const RecordTable& table, Results results) const {
  for (std::size_t i = 0; i < group.columns.size(); ++i) {
    backend_.write(results[group.columns[i]->argument], table.columns[i].bytes);
  }
}

std::vector<std::uint32_t> RecordChecker::rows(const Group& group) const {
  const CheckedData& data = *group.columns[0];
  std::vector<std::uint32_t> rows(static_cast<std::size_t>(data.records->records));
  backend_.read(memory_.reference(*data.rows), std::as_writable_bytes(std::span(rows)));
  return rows;
}

std::vector<backend::Region> RecordChecker::kept(
    std::optional<std::size_t> CheckedData::*place) const {
  std::vector<backend::Region> regions(problem_.family().arguments.size());
  for (const CheckedData& data : memory_.plan().data) {
    if (data.*place) regions[data.argument] = memory_.reference(*(data.*place));
  }
  return regions;
}

std::vector<std::int64_t> RecordChecker::integers(const std::string& buffer) const {
  const std::vector<CheckedData>& all = memory_.plan().data;
  const CheckedData& data = *std::ranges::find(all, buffer, &CheckedData::name);
  RecordColumn column{.name = data.name, .type = data.type};
  column.bytes.resize(data.size_bytes());
  backend_.read(
      data.expected ? memory_.reference(*data.expected) : memory_.candidate(data.candidate),
      column.bytes);
  std::vector<std::int64_t> numbers;
  for (std::size_t i = 0; i < static_cast<std::size_t>(data.used); ++i) {
    numbers.push_back(integer(data.type, column.bits(i)));
  }
  return numbers;
}

std::vector<std::int64_t> RecordChecker::row_starts(const CheckedData& data) const {
  const family::RecordLayout& layout = *data.records;
  std::vector<std::int64_t> starts;
  if (layout.offsets.empty()) {
    for (std::int64_t at = 0; at < layout.records; at += layout.row) starts.push_back(at);
  } else {
    starts = integers(layout.offsets);
  }
  std::int64_t last = 0;
  for (const std::int64_t start : starts) {
    if (start >= last && start <= layout.records) {
      last = start;
      continue;
    }
    throw Error(ErrorCode::usage,
                fmt::format("{}: its rows must begin at ascending records up to {}, but {} has {} "
                            "after {} ({})",
                            data.name, layout.records, layout.offsets, start, last,
                            problem_.circumstances()));
  }
  starts.push_back(layout.records);
  return starts;
}

std::vector<std::uint32_t> RecordChecker::make_rows(const Group& group,
                                                    const std::vector<bool>& left) const {
  const CheckedData& data = *group.columns[0];
  const family::RecordLayout& layout = *data.records;
  const std::vector<std::int64_t> starts = row_starts(data);
  const bool counted = layout.valid && !layout.valid->buffer.empty();
  const std::vector<std::int64_t> counts =
      counted ? integers(layout.valid->buffer) : std::vector<std::int64_t>();
  // What lies before the first row belongs to none.
  std::vector<std::uint32_t> rows(left.size(), kInPlace);
  for (std::size_t row = 0; row + 1 < starts.size(); ++row) {
    const std::int64_t valid = !layout.valid         ? layout.records
                               : !counted            ? layout.valid_number
                               : row < counts.size() ? counts[row]
                                                     : 0;
    for (std::int64_t i = starts[row]; i < starts[row + 1]; ++i) {
      const auto place = static_cast<std::size_t>(i);
      if (i - starts[row] >= valid) {
        rows[place] = kIgnored;
      } else if (layout.any_order && !left[place]) {
        rows[place] = static_cast<std::uint32_t>(row);
      }
    }
  }
  return rows;
}

std::vector<bool> RecordChecker::left(const Group& group, const RecordTable& first,
                                      const RecordTable* second, std::uint32_t unwritten) const {
  std::vector<bool> left(first.records);
  if (second == nullptr) return left;
  for (std::size_t record = 0; record < first.records; ++record) {
    std::size_t elements = 0, untouched = 0;
    const RecordColumn* in_part = nullptr;
    for (std::size_t c = 0; c < first.columns.size(); ++c) {
      const RecordColumn& column = first.columns[c];
      for (std::size_t i = record * column.elements; i < (record + 1) * column.elements; ++i) {
        ++elements;
        if (!is_made_of(column, i, kUnwritten) || !is_made_of(second->columns[c], i, unwritten)) {
          continue;
        }
        ++untouched;
        in_part = &column;
      }
    }
    left[record] = untouched == elements;
    if (untouched == 0 || left[record] || !group.columns[0]->records->any_order) continue;
    throw Error(
        ErrorCode::usage,
        fmt::format("the reference writes only a part of record {} of {}: give {} "
                    "\"initial\": \"zero\", or make the reference write it ({})",
                    record, first.columns[0].name, in_part->name, problem_.circumstances()));
  }
  return left;
}

void RecordChecker::learn(Results second, std::uint32_t unwritten) {
  const std::vector<backend::Region> results = kept(&CheckedData::expected);
  for (const Group& group : groups_) {
    RecordTable table = read(group, results);
    std::optional<RecordTable> again;
    if (!second.empty()) again = read(group, second);
    const std::vector<std::uint32_t> rows =
        make_rows(group, left(group, table, again ? &*again : nullptr, unwritten));
    backend_.write(memory_.reference(*group.columns[0]->rows), std::as_bytes(std::span(rows)));
    static_cast<void>(sort_records(table, rows));
    write(group, table, results);
  }
}

void RecordChecker::sort(Results results) const {
  for (const Group& group : groups_) {
    RecordTable table = read(group, results);
    static_cast<void>(sort_records(table, rows(group)));
    write(group, table, results);
  }
}

bool RecordChecker::is_alike(const Group& group, Results results) const {
  const family::RecordLayout& layout = *group.columns[0]->records;
  for (const CheckedData& data : memory_.plan().data) {
    const bool counts =
        data.name == layout.offsets || (layout.valid && data.name == layout.valid->buffer);
    if (!counts || !data.expected) continue;
    std::vector<std::byte> is(data.size_bytes()), was(data.size_bytes());
    backend_.read(results[data.argument], is);
    backend_.read(memory_.reference(*data.expected), was);
    if (is != was) return false;
  }
  const RecordTable table = read(group, results);
  const std::vector<std::uint32_t> its_rows = rows(group);
  const RecordColumn& column = table.columns[0];
  // Numbers of fewer bits are often equal to what outputs held.
  if (family::element_bytes(column.type) < kWordBytes) return true;
  for (std::size_t i = 0; i < table.records; ++i) {
    if (its_rows[i] != kIgnored && layout.any_order &&
        is_made_of(column, i * column.elements, kUnwritten) != (its_rows[i] == kInPlace)) {
      return false;
    }
  }
  return true;
}

std::vector<std::size_t> RecordChecker::sort_bounded(Results results) const {
  std::vector<std::size_t> unlike;
  for (const Group& group : groups_) {
    if (std::ranges::none_of(group.columns,
                             [](const CheckedData* data) { return data->allowed.has_value(); })) {
      continue;
    }
    if (!is_alike(group, results)) {
      for (const CheckedData* data : group.columns) unlike.push_back(data->argument);
      continue;
    }
    RecordTable table = read(group, results);
    static_cast<void>(sort_records(table, rows(group)));
    write(group, table, results);
  }
  return unlike;
}

bool RecordChecker::differ(std::span<const PartReport> reports) const {
  const std::vector<CheckPart>& parts = memory_.plan().parts;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (parts[i].kind != CheckPart::output || parts[i].rows == CheckPart::none) continue;
    if (reports[i].wrong > 0 || reports[i].fingerprint != 0) return true;
  }
  return false;
}

std::vector<PartReport> RecordChecker::inspect_sorted(CheckKernels& kernels,
                                                      const Poison& poison) const {
  const std::vector<backend::Region> results =
      memory_.candidates(problem_.family().arguments.size());
  std::vector<RecordTable> before;
  for (const Group& group : groups_) {
    RecordTable table = before.emplace_back(read(group, results));
    static_cast<void>(sort_records(table, rows(group)));
    write(group, table, results);
  }
  std::vector<PartReport> reports = kernels.inspect(memory_, poison, CheckKernels::Repeats::ignored,
                                                    CheckKernels::Records::in_place);
  for (std::size_t i = 0; i < groups_.size(); ++i) write(groups_[i], before[i], results);
  return reports;
}

std::string RecordChecker::place_text(const Group& group, std::uint32_t row) const {
  const family::RecordLayout& layout = *group.columns[0]->records;
  std::vector<std::string> names;
  for (const CheckedData* data : group.columns) names.push_back(data->name);
  const std::string text = fmt::format("{}", fmt::join(names, ", "));
  const bool has_rows = !layout.offsets.empty() || layout.row < layout.records;
  return has_rows ? fmt::format("row {} of {}", row, text) : text;
}

std::optional<RecordTable> RecordChecker::errors_allowed(const Group& group) const {
  RecordTable table;
  bool any = false;
  for (const CheckedData* data : group.columns) {
    RecordColumn& column = table.columns.emplace_back(
        RecordColumn{.name = data->name, .type = family::error_type(data->type)});
    if (!data->allowed) continue;
    any = true;
    column.bytes.resize(data->errors_bytes());
    backend_.read(memory_.reference(*data->allowed), column.bytes);
  }
  if (!any) return std::nullopt;
  return table;
}

std::optional<std::string> RecordChecker::difference(const CheckedData& data, Margins margins,
                                                     CheckKernels& kernels,
                                                     const Poison& poison) const {
  const Group& group = group_of(data);
  const std::vector<std::uint32_t> its_rows = rows(group);
  const RecordTable expected = read(group, kept(&CheckedData::expected));
  const RecordTable written = read(group, memory_.candidates(problem_.family().arguments.size()));
  RecordTable found = written;
  const std::vector<std::uint32_t> from = sort_records(found, its_rows);
  std::optional<RecordTable> allowed;
  if (margins == Margins::allowed) allowed = errors_allowed(group);
  const auto first = first_difference(expected, found, its_rows, RecordEquality::of_numbers,
                                      allowed ? &*allowed : nullptr);
  if (!first) return std::nullopt;
  const auto counted = std::ranges::count_if(its_rows, [](auto row) { return row < kInPlace; });
  // Where most are, it is by their errors.
  if (allowed && 2 * first->missing > static_cast<std::uint64_t>(counted)) return std::nullopt;
  const CheckedData& leader = *group.columns[0];
  const std::size_t place = from[first->first_surplus];
  const std::size_t index = place * static_cast<std::size_t>(leader.records->elements);
  const bool poisoned = !leader.initial && !leader.starts_zero;
  return fmt::format(
      "{}: {} is expected {}, found {}; {} of {} {} are missing; not expected: {} at {}{}",
      place_text(group, first->row), first->record, times(first->expected), times(first->found),
      first->missing, counted, is_of_elements(written) ? "elements" : "records",
      record_text(written, place), problem_.element_name(leader.argument, index),
      poisoned && is_untouched(leader, index, kernels, poison) ? ", as before the launch" : "");
}

bool RecordChecker::is_untouched(const CheckedData& data, std::size_t index, CheckKernels& kernels,
                                 const Poison& poison) const {
  const std::vector<CheckPart>& parts = memory_.plan().parts;
  const auto part = std::ranges::find_if(parts, [&](const CheckPart& each) {
    return each.kind == CheckPart::output && each.offset == static_cast<long long>(data.candidate);
  });
  return kernels
      .pick(memory_, static_cast<std::size_t>(part - parts.begin()), *data.expected,
            static_cast<std::int64_t>(index), poison)
      .untouched;
}

std::optional<CheckKernels::Element> RecordChecker::sorted_element(const CheckedData& data,
                                                                   std::uint64_t index) const {
  const Group& group = group_of(data);
  const std::vector<std::uint32_t> its_rows = rows(group);
  const auto record =
      static_cast<std::size_t>(index) / static_cast<std::size_t>(data.records->elements);
  if (record >= its_rows.size() || its_rows[record] >= kInPlace) return std::nullopt;
  RecordTable table = read(group, memory_.candidates(problem_.family().arguments.size()));
  static_cast<void>(sort_records(table, its_rows));
  const RecordTable right = read(group, kept(&CheckedData::expected));
  const auto column = static_cast<std::size_t>(
      std::ranges::find(table.columns, data.name, &RecordColumn::name) - table.columns.begin());
  CheckKernels::Element element{
      .result = family::number_of(data.type, table.columns[column].bits(index)),
      .reference = family::number_of(data.type, right.columns[column].bits(index))};
  if (data.allowed) {
    const RecordColumn allowed = errors_allowed(group)->columns[column];
    element.allowed = family::number_of(allowed.type, allowed.bits(index));
  }
  return element;
}

std::optional<std::string> RecordChecker::repeat_difference(const CheckedData& data) const {
  const Group& group = group_of(data);
  const std::vector<std::uint32_t> its_rows = rows(group);
  RecordTable before = read(group, kept(&CheckedData::repeat)),
              now = read(group, memory_.candidates(problem_.family().arguments.size()));
  static_cast<void>(sort_records(before, its_rows));
  static_cast<void>(sort_records(now, its_rows));
  const auto first = first_difference(before, now, its_rows, RecordEquality::of_bits);
  if (!first) return std::nullopt;
  return fmt::format("{} has {} {} in one launch and {} in another", place_text(group, first->row),
                     first->record, times(first->expected), times(first->found));
}

}  // namespace tuner::verify
