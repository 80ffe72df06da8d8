// SPDX-License-Identifier: Apache-2.0
#include "tuner/core/hash.hpp"
#include "tuner/family/code_hash.hpp"
#include "tuner/family/entry.hpp"
#include "tuner/family/parse.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace tuner::family {
namespace {

/// The derived values that the entries or the launches need, directly or through others.
std::vector<const space::Derived*> relevant_derived(const Kernel& kernel) {
  std::set<std::size_t> needed;
  const auto need = [&](const space::Expression& expression) {
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
  std::vector<const space::Derived*> result;
  const auto& derived = kernel.space->derived;  // each may use those before it
  for (auto each = derived.rbegin(); each != derived.rend(); ++each) {
    if (!needed.contains(each->slot)) continue;
    need(each->expression);
    result.push_back(&*each);
  }
  return result;
}

/// What identifies a kernel: labelled items, in an order that does not depend on the file's.
class Identity {
 public:
  /// `label` tells what follows apart from every other item.
  void add(std::string_view label, std::initializer_list<std::string> values) {
    parts_.emplace_back(label);
    parts_.push_back(std::to_string(values.size()));
    parts_.insert(parts_.end(), values);
  }

  void add(std::string_view label, const std::vector<space::Expression>& expressions) {
    parts_.emplace_back(label);
    parts_.push_back(std::to_string(expressions.size()));
    for (const space::Expression& expression : expressions)
      parts_.push_back(code_hash(expression.text()));
  }

  [[nodiscard]] std::string hash() const {
    return sha256(std::vector<std::string_view>(parts_.begin(), parts_.end()));
  }

 private:
  std::vector<std::string> parts_;
};

void add_source(Identity& identity, const KernelSource& source) {
  identity.add("source", {code_hash(source.text)});
  std::set<std::pair<std::string, std::string>> headers;  // by name: the order is the includes'
  for (const Header& header : source.headers) headers.emplace(header.name, code_hash(header.text));
  for (const auto& [name, hash] : headers) identity.add("header", {name, hash});
}

void add_argument(Identity& identity, const Argument& argument) {
  if (const auto* buffer = std::get_if<BufferArgument>(&argument.what)) {
    identity.add(buffer->is_written() ? "output" : "input",
                 {argument.name, std::string(name(buffer->type.by_default())),
                  code_hash(buffer->count.text()), code_hash(buffer->offset.text()),
                  buffer->align ? code_hash(buffer->align->text()) : "of an element"});
  } else if (const auto* array = std::get_if<ArrayArgument>(&argument.what)) {
    identity.add("array", {argument.name, std::string(name(array->type.by_default())),
                           code_hash(array->count.text()), array->symbol});
  } else {
    const auto& scalar = std::get<ScalarArgument>(argument.what);
    identity.add("scalar", {argument.name, std::string(name(scalar.type.by_default())),
                            code_hash(value_text(scalar))});
  }
}

void add_tensor_map(Identity& identity, const TensorMap& map,
                    const std::vector<Argument>& arguments,
                    const std::vector<ScratchBuffer>& scratch) {
  const bool is_own = map.argument >= arguments.size();
  identity.add("tensor map", {map.name, is_own ? scratch[map.argument - arguments.size()].name
                                               : arguments[map.argument].name});
  identity.add("offset", {map.offset});
  identity.add("extents", map.extents);
  identity.add("strides", map.strides);
  identity.add("box", map.box);
  identity.add("swizzle", {map.swizzle_bytes});
}

void add_parameter(Identity& identity, const KernelParameter& parameter) {
  if (const auto* place = std::get_if<std::size_t>(&parameter)) {
    identity.add("parameter", {std::to_string(*place)});
  } else {
    const ScalarArgument& number = std::get<KernelNumber>(parameter).number;
    identity.add("number",
                 {std::string(name(number.type.by_default())), code_hash(value_text(number))});
  }
}

void add_launch(Identity& identity, const KernelStep& step) {
  for (const KernelParameter& parameter :
       step.parameters.value_or(std::vector<KernelParameter>())) {
    add_parameter(identity, parameter);
  }
  identity.add("grid", step.grid);
  identity.add("block", step.block);
  identity.add("dynamic shared bytes", {step.dynamic_shared_bytes});
}

}  // namespace

std::string kernel_hash(const Kernel& kernel, const std::vector<Argument>& arguments) {
  Identity identity;
  add_source(identity, kernel.source);
  for (const KernelStep& step : kernel.steps) identity.add("entry", {code_hash(step.entry)});
  for (const std::string& option : kernel.options) identity.add("option", {option});
  for (const MacroDefinition& macro : kernel.defines) {
    identity.add("define", {macro.name, code_hash(macro.value.text())});
  }
  for (const space::Parameter& parameter : kernel.space->parameters) {
    if (parameter.kind != space::ParameterKind::option) continue;
    identity.add("option parameter", {parameter.name, parameter.option});
  }
  for (const Argument& argument : arguments) add_argument(identity, argument);
  for (const ScratchBuffer& scratch : kernel.scratch) {
    identity.add("scratch", {scratch.name, std::string(name(scratch.type.by_default())),
                             code_hash(scratch.count.text())});
  }
  for (const TensorMap& map : kernel.tensor_maps)
    add_tensor_map(identity, map, arguments, kernel.scratch);
  for (const KernelStep& step : kernel.steps) add_launch(identity, step);
  for (const space::Derived* derived : relevant_derived(kernel)) {
    identity.add("derived", {derived->name, code_hash(derived->expression.text())});
  }
  return identity.hash();
}

}  // namespace tuner::family
