// SPDX-License-Identifier: Apache-2.0
#include "tuner/core/hash.hpp"
#include "tuner/family/entry.hpp"
#include "tuner/family/parse.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace tuner {
namespace {

/// The derived values that the entries or the launches need, directly or through others.
std::vector<const Derived*> relevant_derived(const Kernel& kernel) {
  std::set<std::size_t> needed;
  const auto need = [&](const Expression& expression) {
    needed.insert(expression.slots().begin(), expression.slots().end());
  };
  for (const KernelStep& step : kernel.steps) {
    std::ranges::for_each(step.grid, need);
    std::ranges::for_each(step.block, need);
    need(step.dynamic_shared_bytes);
    for (const KernelParameter& parameter :
         step.parameters.value_or(std::vector<KernelParameter>())) {
      if (const auto* number = std::get_if<KernelNumber>(&parameter)) need(number->number.value);
    }
    for (const EntryPiece& piece : split_entry(step.entry)) {
      if (const auto* symbol = kernel.space->scope.find(piece.name)) needed.insert(symbol->slot);
    }
  }
  for (const ScratchBuffer& scratch : kernel.scratch) need(scratch.count);
  for (const TensorMap& map : kernel.tensor_maps) {
    need(map.offset);
    std::ranges::for_each(map.extents, need);
    std::ranges::for_each(map.strides, need);
    std::ranges::for_each(map.box, need);
    need(map.swizzle_bytes);
  }
  for (const MacroDefinition& macro : kernel.defines) need(macro.value);
  std::vector<const Derived*> result;
  const auto& derived = kernel.space->derived;  // each may use those before it
  for (auto each = derived.rbegin(); each != derived.rend(); ++each) {
    if (!needed.contains(each->slot)) continue;
    need(each->expression);
    result.push_back(&*each);
  }
  return result;
}

void add(std::vector<std::string>& parts, std::string_view label,
         const std::vector<Expression>& expressions) {
  parts.emplace_back(label);
  for (const Expression& expression : expressions) parts.push_back(expression.text());
}

void add(std::vector<std::string>& parts, const Argument& argument) {
  parts.push_back(argument.name);
  if (const auto* buffer = std::get_if<BufferArgument>(&argument.what)) {
    const std::string_view role = buffer->is_written() ? "output" : "input";
    parts.insert(parts.end(),
                 {fmt::format("{}*", name(buffer->type)), buffer->count.text(), std::string(role)});
    // Hashes are older than offsets: an argument without one keeps its own.
    const bool has_offset = buffer->offset.text() != "0";
    if (has_offset) parts.insert(parts.end(), {"offset", buffer->offset.text()});
    // Nor did they know of `align`: a buffer without an offset was claimed to begin at a multiple
    // of 16 bytes, which a file says now. One that says nothing claims less, and is another buffer.
    const std::string before = has_offset ? "" : "16";
    const std::string align = buffer->align ? buffer->align->text() : "";
    if (align != before) parts.insert(parts.end(), {"align", align});
  } else if (const auto* array = std::get_if<ArrayArgument>(&argument.what)) {
    parts.insert(parts.end(), {fmt::format("{}[]", name(array->type)), array->count.text()});
    if (!array->symbol.empty()) parts.insert(parts.end(), {"symbol", array->symbol});
  } else {
    const auto& scalar = std::get<ScalarArgument>(argument.what);
    parts.insert(parts.end(), {std::string(name(scalar.type)), value_text(scalar), ""});
  }
}

void add(std::vector<std::string>& parts, const KernelParameter& parameter) {
  if (const auto* place = std::get_if<std::size_t>(&parameter)) {
    parts.push_back(std::to_string(*place));
    return;
  }
  const ScalarArgument& number = std::get<KernelNumber>(parameter).number;
  parts.insert(parts.end(), {std::string(name(number.type)), value_text(number)});
}

void add_launch(std::vector<std::string>& parts, const KernelStep& step) {
  add(parts, "grid", step.grid);
  add(parts, "block", step.block);
  add(parts, "dynamic_shared_bytes", {step.dynamic_shared_bytes});
}

void add_parameters(std::vector<std::string>& parts, const KernelStep& step) {
  if (!step.parameters) return;
  parts.emplace_back("parameters");
  for (const KernelParameter& parameter : *step.parameters) add(parts, parameter);
}

/// The steps after the first. Hashes are older than these, too.
void add_further_steps(std::vector<std::string>& parts, const Kernel& kernel) {
  for (std::size_t i = 1; i < kernel.steps.size(); ++i) {
    const KernelStep& step = kernel.steps[i];
    parts.insert(parts.end(), {"step", step.entry});
    add_launch(parts, step);
    add_parameters(parts, step);
  }
}

/// What is passed to the compiler beside the options. Hashes are older than all of these.
void add_compilation(std::vector<std::string>& parts, const Kernel& kernel) {
  for (const MacroDefinition& macro : kernel.defines) {
    parts.insert(parts.end(), {"define", macro.name, macro.value.text()});
  }
  for (const Parameter& parameter : kernel.space->parameters) {
    if (parameter.kind != ParameterKind::option) continue;
    parts.insert(parts.end(), {"option parameter", parameter.name, parameter.option});
  }
}

}  // namespace

std::string kernel_hash(const Kernel& kernel, const std::vector<Argument>& arguments) {
  // Labels divide the lists, so that nothing can move from one to the next unnoticed.
  std::vector<std::string> parts = {"source", kernel.source.text, "headers"};
  for (const Header& header : kernel.source.headers) {
    parts.insert(parts.end(), {header.name, header.text});
  }
  parts.insert(parts.end(), {"entry", kernel.steps.front().entry, "options"});
  parts.insert(parts.end(), kernel.options.begin(), kernel.options.end());
  parts.emplace_back("arguments");
  for (const Argument& argument : arguments) add(parts, argument);
  add_launch(parts, kernel.steps.front());
  if (!kernel.scratch.empty()) parts.emplace_back("scratch");  // hashes are older than this, too
  for (const ScratchBuffer& scratch : kernel.scratch) {
    parts.insert(parts.end(),
                 {scratch.name, fmt::format("{}*", name(scratch.type)), scratch.count.text()});
  }
  for (const TensorMap& map : kernel.tensor_maps) {
    parts.insert(parts.end(), {"tensor map", map.name, arguments[map.argument].name});
    add(parts, "offset", {map.offset});
    add(parts, "extents", map.extents);
    add(parts, "strides", map.strides);
    add(parts, "box", map.box);
    add(parts, "swizzle", {map.swizzle_bytes});
  }
  add_parameters(parts, kernel.steps.front());
  add_further_steps(parts, kernel);
  add_compilation(parts, kernel);
  parts.emplace_back("derived");
  for (const Derived* derived : relevant_derived(kernel)) {
    parts.insert(parts.end(), {derived->name, derived->expression.text()});
  }
  return content_hash(std::vector<std::string_view>(parts.begin(), parts.end()));
}

}  // namespace tuner
