// SPDX-License-Identifier: Apache-2.0
#include "tuner/core/suggest.hpp"
#include "tuner/family/parse.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <span>
#include <utility>

namespace tuner {
namespace {

constexpr std::size_t kMaximumSizes = 1000;
constexpr std::size_t kMaximumArguments = 64;

constexpr std::string_view kArraySuffix = "[]";

/// The type of an argument's elements, if it is one of `types`.
ElementType parse_type(const DocumentNode& node, std::string_view name,
                       std::span<const ElementType> types) {
  std::vector<std::string> known;
  for (const ElementType type : types) {
    if (tuner::name(type) == name) return type;
    known.emplace_back(tuner::name(type));
  }
  node.fail(fmt::format("unknown type {}{}; a buffer's type ends in *, an array's in []",
                        in_quotes(name), did_you_mean(name, known)));
}

BufferRole parse_role(const DocumentNode& node) {
  const std::string role = node.text();
  if (role == "input") return BufferRole::input;
  if (role == "output") return BufferRole::output;
  const std::vector<std::string> known = {"input", "output"};
  node.fail(fmt::format("unknown role {}{}", in_quotes(role), did_you_mean(role, known)));
}

ScalarArgument parse_scalar(const DocumentNode& node, const Scope& scope) {
  node.expect_keys({"name", "type", "value"});
  const DocumentNode type = node.at("type");
  ScalarArgument scalar;
  scalar.type = parse_type(type, type.text(), kScalarTypes);
  scalar.value = family_expression(node.at("value"), scope);
  return scalar;
}

BufferArgument parse_buffer(const DocumentNode& node, const Scope& scope) {
  node.expect_keys({"name", "type", "count", "offset", "role"});
  BufferArgument buffer;
  buffer.type = parse_buffer_type(node.at("type"));
  buffer.count = family_expression(node.at("count"), scope);
  if (const auto offset = node.find("offset")) buffer.offset = family_expression(*offset, scope);
  if (const auto role = node.find("role")) buffer.role = parse_role(*role);
  return buffer;
}

/// The name of a variable, with its namespaces.
std::string parse_symbol(const DocumentNode& node) {
  const std::string text = node.text();
  std::string_view rest = text;
  for (std::size_t end = 0; end != std::string_view::npos;) {
    end = rest.find("::");
    if (!is_word(rest.substr(0, end))) {
      node.fail(
          fmt::format("{} is no name of a variable, such as \"weights\" or "
                      "\"detail::weights\"",
                      in_quotes(text)));
    }
    if (end != std::string_view::npos) rest.remove_prefix(end + 2);
  }
  return text;
}

ArrayArgument parse_array(const DocumentNode& node, const Scope& scope) {
  const DocumentNode type = node.at("type");
  const std::string text = type.text();
  const std::string_view element = std::string_view(text).substr(0, text.rfind(kArraySuffix));
  ArrayArgument array;
  array.type = parse_type(type, element, kElementTypes);
  if (const auto role = node.find("role")) {
    role->fail(
        fmt::format("an array by value is an input, which a kernel cannot write: leave the "
                    "role out, or make the argument a buffer, \"{}*\"",
                    element));
  }
  if (const auto offset = node.find("offset")) {
    offset->fail(
        fmt::format("an array by value lies among the kernel's parameters: leave the "
                    "offset out, or make the argument a buffer, \"{}*\"",
                    element));
  }
  node.expect_keys({"name", "type", "count", "symbol"});
  array.count = family_expression(node.at("count"), scope);
  if (const auto symbol = node.find("symbol")) array.symbol = parse_symbol(*symbol);
  return array;
}

Argument parse_argument(const DocumentNode& node, const Scope& scope) {
  const std::string type = node.at("type").text();
  Argument argument;
  if (type.ends_with('*')) {
    argument.what = parse_buffer(node, scope);
  } else if (type.ends_with(kArraySuffix)) {
    argument.what = parse_array(node, scope);
  } else {
    argument.what = parse_scalar(node, scope);
  }
  argument.name = node.at("name").name();
  return argument;
}

bool is_output(const Argument& argument) {
  const auto* buffer = std::get_if<BufferArgument>(&argument.what);
  return buffer != nullptr && buffer->role == BufferRole::output;
}

}  // namespace

ElementType parse_buffer_type(const DocumentNode& node) {
  const std::string type = node.text();
  if (type.ends_with('*')) {
    return parse_type(node, std::string_view(type).substr(0, type.size() - 1), kElementTypes);
  }
  node.fail(fmt::format("{} must end in *: it is the type of a buffer", in_quotes(type)));
}

Slots family_slots(const Size& size) {
  Slots slots(attribute_fields().size(), 0);
  slots.insert(slots.end(), size.begin(), size.end());
  return slots;
}

Expression family_expression(const DocumentNode& node, const Scope& scope) {
  Expression expression = node.expression(scope);
  if (!expression.slots().empty() && expression.slots().front() < attribute_fields().size()) {
    node.fail(
        "asks for an attribute of the device (dev.…), but what a family computes depends on "
        "the dimensions alone");
  }
  return expression;
}

std::vector<Size> parse_sizes(const DocumentNode& node, const Dimensions& dims) {
  std::vector<Size> sizes;
  for (const DocumentNode& element : node.elements(1, kMaximumSizes)) {
    sizes.push_back(size_from_json(element.json(), dims, element.where()));
  }
  return sizes;
}

Problem parse_problem(const DocumentNode& node) {
  node.expect_keys({"dims", "constraints", "flops", "bytes", "sizes"});
  Problem problem;
  problem.dims = parse_dimensions(node.json(), node.where());
  const Scope scope = family_scope(problem.dims);
  problem.flops = family_expression(node.at("flops"), scope);
  problem.bytes = family_expression(node.at("bytes"), scope);
  if (const auto sizes = node.find("sizes")) {
    for (const auto& [name, list] : sizes->named_members()) {
      problem.sizes.emplace(name, parse_sizes(list, problem.dims));
    }
  }
  return problem;
}

std::vector<Argument> parse_arguments(const DocumentNode& node, const Problem& problem) {
  const Scope scope = family_scope(problem.dims);
  std::vector<Argument> arguments;
  std::set<std::string> names;
  for (const DocumentNode& element : node.elements(1, kMaximumArguments)) {
    arguments.push_back(parse_argument(element, scope));
    const std::string& name = arguments.back().name;
    if (!names.insert(name).second) {
      element.fail(fmt::format("the argument '{}' stands twice", name));
    }
  }
  if (std::none_of(arguments.begin(), arguments.end(), is_output)) {
    node.fail(
        "no argument is an output: give the buffer that the kernel writes \"role\": "
        "\"output\", or there is nothing to check");
  }
  return arguments;
}

}  // namespace tuner
