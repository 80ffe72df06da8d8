// SPDX-License-Identifier: Apache-2.0
#include "tuner/core/error.hpp"
#include "tuner/core/suggest.hpp"
#include "tuner/family/parse.hpp"
#include "tuner/space/required_value.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace tuner::family {
namespace {

const BufferArgument* buffer_named(const std::vector<Argument>& arguments, std::string_view name) {
  const auto found = std::ranges::find(arguments, name, &Argument::name);
  return found == arguments.end() ? nullptr : std::get_if<BufferArgument>(&found->what);
}

/// The name of an integer buffer, or an expression.
RecordCount parse_record_count(const DocumentNode& node, const space::Scope& scope,
                               const std::vector<Argument>& arguments) {
  if (!node.json().is_string()) return {.number = family_expression(node, scope), .buffer = {}};
  const std::string text = node.text();
  const BufferArgument* const buffer = buffer_named(arguments, text);
  if (buffer == nullptr) return {.number = family_expression(node, scope), .buffer = {}};
  if (std::ranges::any_of(buffer->type.all(), is_floating)) {
    node.fail(fmt::format("'{}' has elements of type '{}'; it must be a buffer of integers", text,
                          buffer->type.text()));
  }
  return {.buffer = text};
}

RecordOrder parse_record_order(const DocumentNode& node, const space::Scope& scope,
                               const std::vector<Argument>& arguments) {
  RecordOrder order;
  if (node.json().is_string()) {
    if (node.text() != "any") {
      node.fail(fmt::format(
          "unknown order {}; it is \"any\", or an object with \"record\", \"within\" or \"as\"",
          in_quotes(node.text())));
    }
    return order;
  }
  node.expect_keys({"record", "within", "as"});
  if (const auto record = node.find("record")) order.record = family_expression(*record, scope);
  if (const auto as = node.find("as")) order.as = as->name();
  if (const auto within = node.find("within")) {
    if (!order.as.empty()) {
      within->fail(
          fmt::format("belongs to the order of '{}', which this output follows", order.as));
    }
    order.within = parse_record_count(*within, scope, arguments);
  }
  return order;
}

/// Fails unless the output whose order this one follows states one.
void check_leader(const DocumentNode& node, const std::vector<Argument>& arguments,
                  const RecordOrder& order) {
  if (order.as.empty()) return;
  const BufferArgument* const leader = buffer_named(arguments, order.as);
  if (leader != nullptr && leader->order && leader->order->as.empty()) return;
  node.at("order").at("as").fail(fmt::format(
      "must name an output with an \"order\" of its own, such as \"any\"; '{}' is none", order.as));
}

/// Fails where a buffer that decides which elements are compared is not compared in place itself.
void check_deciding(const DocumentNode& node, const std::vector<Argument>& arguments,
                    const RecordCount& count) {
  if (count.buffer.empty()) return;
  const BufferArgument& buffer = *buffer_named(arguments, count.buffer);
  if (!buffer.order && !buffer.valid) return;
  node.fail(
      fmt::format("'{}' decides which elements of this output are compared: it must not "
                  "have an \"order\" or a \"valid\" itself",
                  count.buffer));
}

void parse_order(const DocumentNode& node, const space::Scope& scope,
                 const std::vector<Argument>& arguments, BufferArgument& buffer) {
  const auto order = node.find("order");
  const auto valid = node.find("valid");
  for (const auto& each : {order, valid}) {
    if (each && !buffer.is_written()) each->fail("applies to outputs only");
  }
  if (order) buffer.order = parse_record_order(*order, scope, arguments);
  if (!valid) return;
  if (buffer.order && !buffer.order->as.empty()) {
    valid->fail(fmt::format("belongs to '{}', whose order this output follows: remove it here",
                            buffer.order->as));
  }
  buffer.valid = parse_record_count(*valid, scope, arguments);
}

std::int64_t count_of(const std::vector<Argument>& arguments, std::string_view name,
                      const space::ExpressionValues& values) {
  return space::required_value(buffer_named(arguments, name)->count, values, name, 0);
}

/// The records of a row where nothing but the number of valid counts says so.
std::int64_t row_of(const RecordLayout& layout, std::string_view name,
                    const std::vector<Argument>& arguments, const space::ExpressionValues& values) {
  if (!layout.valid || layout.valid->buffer.empty()) return layout.records;
  const std::int64_t rows =
      std::max<std::int64_t>(1, count_of(arguments, layout.valid->buffer, values));
  if (layout.records % rows == 0) return layout.records / rows;
  throw Error(ErrorCode::usage,
              fmt::format("argument {}: its {} records are no {} rows of equal length, one for "
                          "each element of {}; state \"within\"",
                          name, layout.records, rows, layout.valid->buffer));
}

/// Throws unless there is a number of valid records for each row.
void check_rows(const RecordLayout& layout, std::string_view name,
                const std::vector<Argument>& arguments, const space::ExpressionValues& values) {
  if (!layout.valid || layout.valid->buffer.empty()) return;
  const std::int64_t counts = count_of(arguments, layout.valid->buffer, values);
  const std::int64_t rows = layout.offsets.empty() ? (layout.records + layout.row - 1) / layout.row
                                                   : count_of(arguments, layout.offsets, values);
  // Offsets may end with the number of all records.
  if (counts == rows || (!layout.offsets.empty() && counts == rows - 1)) return;
  throw Error(ErrorCode::usage, fmt::format("argument {}: {} has {} elements for {} rows", name,
                                            layout.valid->buffer, counts, rows));
}

}  // namespace

void parse_orders(const std::vector<DocumentNode>& nodes, const space::Scope& scope,
                  std::vector<Argument>& arguments) {
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    auto* const buffer = std::get_if<BufferArgument>(&arguments[i].what);
    if (buffer != nullptr) parse_order(nodes[i], scope, arguments, *buffer);
  }
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const auto* const buffer = std::get_if<BufferArgument>(&arguments[i].what);
    if (buffer == nullptr) continue;
    if (buffer->valid) check_deciding(nodes[i].at("valid"), arguments, *buffer->valid);
    if (!buffer->order) continue;
    check_leader(nodes[i], arguments, *buffer->order);
    if (buffer->order->within) {
      check_deciding(nodes[i].at("order"), arguments, *buffer->order->within);
    }
  }
}

bool extends_lists(const std::vector<Argument>& arguments) {
  const auto is_any = [&](const auto& predicate) {
    return std::ranges::any_of(arguments, [&](const Argument& argument) {
      const auto* const buffer = std::get_if<BufferArgument>(&argument.what);
      return buffer != nullptr && buffer->is_written() && predicate(*buffer);
    });
  };
  return is_any([](const BufferArgument& output) { return output.order || output.valid; }) &&
         is_any(
             [](const BufferArgument& output) { return output.initial != InitialContent::poison; });
}

bool counts_records(const std::vector<Argument>& arguments, std::string_view name) {
  return std::ranges::any_of(arguments, [&](const Argument& argument) {
    const auto* const buffer = std::get_if<BufferArgument>(&argument.what);
    if (buffer == nullptr) return false;
    return (buffer->valid && buffer->valid->buffer == name) ||
           (buffer->order && buffer->order->within && buffer->order->within->buffer == name);
  });
}

std::optional<RecordLayout> record_layout(const std::vector<Argument>& arguments,
                                          const Argument& argument,
                                          const space::ExpressionValues& values) {
  const auto* const buffer = std::get_if<BufferArgument>(&argument.what);
  if (buffer == nullptr || (!buffer->order && !buffer->valid)) return std::nullopt;
  const std::string what = fmt::format("argument {}", argument.name);
  const std::int64_t count =
      std::max<std::int64_t>(1, space::required_value(buffer->count, values, what, 0));
  RecordLayout layout;
  layout.valid = buffer->valid;
  if (buffer->order) {
    layout.any_order = true;
    layout.as = buffer->order->as;
    layout.elements = space::required_value(buffer->order->record, values, what + ": record", 1);
  }
  layout.records = count / layout.elements;
  if (count % layout.elements != 0) {
    throw Error(ErrorCode::usage, fmt::format("{}: its {} elements are no records of {}", what,
                                              count, layout.elements));
  }
  if (!layout.as.empty()) {
    const auto leader = std::ranges::find(arguments, layout.as, &Argument::name);
    const std::int64_t records = record_layout(arguments, *leader, values)->records;
    if (records == layout.records) return layout;
    throw Error(ErrorCode::usage, fmt::format("{}: it has {} records, {} has {}", what,
                                              layout.records, layout.as, records));
  }
  if (layout.valid)
    layout.valid_number = space::required_value(layout.valid->number, values, what, 0);
  if (buffer->order && buffer->order->within) {
    layout.offsets = buffer->order->within->buffer;
    layout.row = layout.offsets.empty() ? space::required_value(buffer->order->within->number,
                                                                values, what + ": within", 1)
                                        : layout.records;
  } else {
    layout.row = row_of(layout, argument.name, arguments, values);
  }
  check_rows(layout, argument.name, arguments, values);
  return layout;
}

}  // namespace tuner::family
