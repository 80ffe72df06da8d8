// SPDX-License-Identifier: Apache-2.0
#include "tuner/core/hash.hpp"
#include "tuner/family/entry.hpp"
#include "tuner/family/parse.hpp"
#include "tuner/source/code_hash.hpp"
#include "tuner/source/source.hpp"

#include <algorithm>
#include <map>
#include <ranges>
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
    if (step.programmatic) need(*step.programmatic);
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
  for (const space::Derived& each : std::views::reverse(derived)) {
    if (!needed.contains(each.slot)) continue;
    need(each.expression);
    result.push_back(&each);
  }
  return result;
}

/// Blank space does not change it.
std::string expression_hash(const space::Expression& expression) {
  const std::vector<std::string> tokens = expression.tokens();
  return sha256(std::vector<std::string_view>(tokens.begin(), tokens.end()));
}

std::string value_hash(const ScalarArgument& scalar) {
  return scalar.real ? source::code_hash(value_text(scalar)) : expression_hash(scalar.value);
}

/// "f32"; "${A}" is the problem's, of which add_types() tells what it means.
std::string type_text(const TypeOf& type) {
  return type.all().size() == 1 ? std::string(name(type.by_default())) : type.text();
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
      parts_.push_back(expression_hash(expression));
  }

  [[nodiscard]] std::string hash() const {
    return sha256(std::vector<std::string_view>(parts_.begin(), parts_.end()));
  }

 private:
  std::vector<std::string> parts_;
};

void add_source(Identity& identity, const source::KernelSource& source) {
  // By name: their order is that of the includes. Of two of one name the order counts.
  std::multimap<std::string, std::string> headers;
  for (const source::Header& header : source.headers) headers.emplace(header.name, header.text);
  identity.add("source", {source::code_hash(source.text)});
  for (const auto& [name, text] : headers) identity.add("header", {name, source::code_hash(text)});
}

/// What decides what the compiler makes of the sources and of what it is given beside them. Blanks
/// in an option or a value are its text.
source::Decisive decisive(const Kernel& kernel) {
  source::Decisive most = source::decisive(kernel.source.text);
  for (const source::Header& header : kernel.source.headers) {
    most = std::max(most, source::decisive(header.text));
  }
  const auto depends_on_text = [](std::string_view text) {
    return source::decisive(text) != source::Decisive::tokens;
  };
  const auto in_values = [&](const space::Parameter& parameter) {
    return std::ranges::any_of(parameter.values, depends_on_text, &space::ParameterValue::text);
  };
  const bool is_text = std::ranges::any_of(kernel.options, depends_on_text) ||
                       std::ranges::any_of(kernel.space->parameters, in_values);
  return is_text ? source::Decisive::text : most;
}

/// What counts beside the tokens.
void add_layout(Identity& identity, const source::KernelSource& source, source::Decisive decisive) {
  if (decisive == source::Decisive::tokens) return;
  if (decisive == source::Decisive::blanks) {
    identity.add("blanks", {source::spaced_code_hash(source.text)});
    for (const source::Header& header : source.headers) {
      identity.add("blanks of a header", {header.name, source::spaced_code_hash(header.text)});
    }
    return;
  }
  identity.add("text", {source.name, source.text});
  for (const source::Header& header : source.headers) {
    identity.add("text of a header", {header.name, header.text});
  }
}

/// What the names of types mean at each size.
void add_types(Identity& identity, const space::Dimensions& dims) {
  for (const space::Dimension& dimension : dims) {
    for (const auto& [of, types] : dimension.types) {
      identity.add("types", {dimension.name, of, std::to_string(types.size())});
      for (const ElementType type : types) identity.add("type", {std::string(name(type))});
    }
  }
}

void add_argument(Identity& identity, const Argument& argument) {
  if (const auto* buffer = std::get_if<BufferArgument>(&argument.what)) {
    identity.add(buffer->is_written() ? "output" : "input",
                 {argument.name, type_text(buffer->type), expression_hash(buffer->count),
                  expression_hash(buffer->offset),
                  buffer->align ? expression_hash(*buffer->align) : "of an element"});
  } else if (const auto* array = std::get_if<ArrayArgument>(&argument.what)) {
    identity.add("array", {argument.name, type_text(array->type), expression_hash(array->count),
                           array->symbol});
  } else {
    const auto& scalar = std::get<ScalarArgument>(argument.what);
    identity.add("scalar", {argument.name, type_text(scalar.type), value_hash(scalar)});
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
    identity.add("number", {type_text(number.type), value_hash(number)});
  }
}

void add_launch(Identity& identity, const KernelStep& step) {
  if (step.parameters) {
    identity.add("parameters", {std::to_string(step.parameters->size())});
    for (const KernelParameter& parameter : *step.parameters) add_parameter(identity, parameter);
  }
  identity.add("grid", step.grid);
  identity.add("block", step.block);
  identity.add("dynamic shared bytes", {step.dynamic_shared_bytes});
  if (step.programmatic) identity.add("programmatic", {*step.programmatic});
}

}  // namespace

std::string kernel_hash(const Kernel& kernel, const Family& family) {
  const std::vector<Argument>& arguments = family.arguments;
  Identity identity;
  add_source(identity, kernel.source);
  add_layout(identity, kernel.source, decisive(kernel));
  for (const KernelStep& step : kernel.steps)
    identity.add("entry", {source::code_hash(step.entry)});
  for (const std::string& option : kernel.options) identity.add("option", {option});
  for (const MacroDefinition& macro : kernel.defines) {
    identity.add("define", {macro.name, expression_hash(macro.value)});
  }
  for (const space::Parameter& parameter : kernel.space->parameters) {
    if (parameter.kind == space::ParameterKind::option) {
      identity.add("option parameter", {parameter.name, parameter.option});
    } else if (parameter.kind == space::ParameterKind::define) {
      identity.add("define parameter", {parameter.name});
    }
  }
  add_types(identity, family.problem.dims);
  for (const Argument& argument : arguments) add_argument(identity, argument);
  for (const ScratchBuffer& scratch : kernel.scratch) {
    identity.add("scratch",
                 {scratch.name, type_text(scratch.type), expression_hash(scratch.count)});
  }
  for (const TensorMap& map : kernel.tensor_maps)
    add_tensor_map(identity, map, arguments, kernel.scratch);
  for (const KernelStep& step : kernel.steps) add_launch(identity, step);
  for (const space::Derived* derived : relevant_derived(kernel)) {
    identity.add("derived", {derived->name, expression_hash(derived->expression)});
  }
  return identity.hash();
}

}  // namespace tuner::family
