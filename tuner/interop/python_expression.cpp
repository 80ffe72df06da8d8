// SPDX-License-Identifier: Apache-2.0
#include "tuner/interop/python_expression.hpp"

#include "tuner/core/error.hpp"
#include "tuner/space/device.hpp"
#include "tuner/space/syntax.hpp"
#include "tuner/space/vocabulary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

namespace tuner::interop {
namespace {

/// Python has the operators of expressions.
std::string_view symbol(space::Operation operation) {
  for (const std::string_view each : {"+", "-", "*", "/", "//", "%", "<<", ">>", "&", "|", "^", "<",
                                      "<=", ">", ">=", "==", "!="}) {
    const space::ArithmeticOperator* const arithmetic = space::find_arithmetic(each);
    if (arithmetic != nullptr && arithmetic->operation == operation) return each;
    if (space::find_comparison(each) == operation) return each;
  }
  return "";
}

}  // namespace

/// Writes the nodes of one syntax tree, each in parentheses.
class PythonWriter::Nodes {
 public:
  Nodes(const PythonWriter& writer, const space::Syntax& syntax, std::string_view text)
      : writer_(writer), syntax_(syntax), text_(text) {}

  std::string write(std::size_t index) const {
    const space::Node& node = syntax_.nodes[index];
    switch (node.kind) {
      case space::NodeKind::constant:
        return constant(node);
      case space::NodeKind::slot:
        return writer_.slot_text(static_cast<std::size_t>(node.value));
      case space::NodeKind::unary:
        return unary(node);
      case space::NodeKind::binary:
        return binary(node);
      case space::NodeKind::comparison:
        return comparison(node);
      case space::NodeKind::membership:
        return membership(node);
      case space::NodeKind::logical_and:
        return fmt::format("({} and {})", operand(node, 0), operand(node, 1));
      case space::NodeKind::logical_or:
        return fmt::format("({} or {})", operand(node, 0), operand(node, 1));
      case space::NodeKind::conditional:
        if (const auto is = known_type(syntax_.nodes[node.operands[0]])) {
          return operand(node, *is ? 1 : 2);
        }
        return fmt::format("({} if {} else {})", operand(node, 1), operand(node, 0),
                           operand(node, 2));
    }
    return "";
  }

 private:
  std::string operand(const space::Node& node, std::size_t i) const {
    return write(node.operands[i]);
  }

  /// Whether the size is of the type that a condition names, as in TYPE == 'f32'; none where the
  /// condition is another.
  std::optional<bool> known_type(const space::Node& condition) const {
    if (condition.kind != space::NodeKind::comparison || condition.operands.size() != 2 ||
        condition.comparisons.front() != space::Operation::equal) {
      return std::nullopt;
    }
    const space::Node& slot = syntax_.nodes[condition.operands[0]];
    const space::Node& word = syntax_.nodes[condition.operands[1]];
    const auto place = static_cast<std::size_t>(slot.value);
    if (slot.kind != space::NodeKind::slot || word.kind != space::NodeKind::constant ||
        place >= writer_.base_.size()) {
      return std::nullopt;
    }
    return writer_.base_[place] == word.value;
  }

  std::string constant(const space::Node& node) const {
    if (node.value_kind == space::ValueKind::number) return std::to_string(node.value);
    const space::Scope& scope = writer_.definition_.scope;
    for (const std::string& word : scope.words()) {
      if (*scope.find_word(word) == node.value) return fmt::format("'{}'", word);
    }
    return "''";
  }

  std::string unary(const space::Node& node) const {
    const std::string a = operand(node, 0);
    switch (node.operation) {
      case space::Operation::negate:
        return fmt::format("(-{})", a);
      case space::Operation::complement:
        return fmt::format("(~{})", a);
      case space::Operation::logical_not:
        return fmt::format("(not {})", a);
      case space::Operation::absolute:
        return fmt::format("abs({})", a);
      case space::Operation::is_power_of_two:
        return fmt::format("({0} > 0 and {0} & ({0} - 1) == 0)", a);
      default:
        break;
    }
    throw Error(ErrorCode::usage,
                fmt::format("{}: Python, which T1 is written in, has no such function", text_));
  }

  std::string binary(const space::Node& node) const {
    const std::string a = operand(node, 0);
    const std::string b = operand(node, 1);
    switch (node.operation) {
      case space::Operation::ceil_divide:
        return fmt::format("(-(-{} // {}))", a, b);
      case space::Operation::align_up:
        return fmt::format("(-(-{0} // {1}) * {1})", a, b);
      case space::Operation::minimum:
        return fmt::format("min({}, {})", a, b);
      case space::Operation::maximum:
        return fmt::format("max({}, {})", a, b);
      default:
        return fmt::format("({} {} {})", a, symbol(node.operation), b);
    }
  }

  std::string comparison(const space::Node& node) const {
    std::string text = operand(node, 0);
    for (std::size_t i = 0; i < node.comparisons.size(); ++i) {
      text += fmt::format(" {} {}", symbol(node.comparisons[i]), operand(node, i + 1));
    }
    return fmt::format("({})", text);
  }

  std::string membership(const space::Node& node) const {
    std::string list;
    for (std::size_t i = 1; i < node.operands.size(); ++i) {
      list += fmt::format("{}{}", i > 1 ? ", " : "", operand(node, i));
    }
    return fmt::format("({} in [{}])", operand(node, 0), list);
  }

  const PythonWriter& writer_;
  const space::Syntax& syntax_;
  std::string_view text_;
};

PythonWriter::PythonWriter(const space::SpaceDefinition& definition,
                           const space::DeviceAttributes& device,
                           std::span<const std::int64_t> size)
    : definition_(definition) {
  for (const space::AttributeField& field : space::attribute_fields()) {
    base_.push_back(static_cast<std::int64_t>(device.*field.member));
  }
  base_.insert(base_.end(), size.begin(), size.end());
}

bool PythonWriter::is_python(const space::Expression& expression) const {
  const auto& text = expression.text();
  constexpr std::array<std::string_view, 9> kOurs = {
      "&&", "||", "?", "!", "ceil_div", "is_pow2", "log2", "align_up", "rue"};
  const bool ours = std::ranges::any_of(kOurs, [&](std::string_view it) {
    const std::size_t at = text.find(it);
    return at != std::string::npos && !(it == "!" && text.substr(at).starts_with("!="));
  });
  const bool parameters_only = std::ranges::all_of(expression.slots(), [&](std::size_t slot) {
    return std::ranges::count(definition_.parameters, slot, &space::Parameter::slot) > 0;
  });
  return !ours && text.find("alse") == std::string::npos && parameters_only;
}

std::string PythonWriter::slot_text(std::size_t slot) const {
  if (slot < base_.size()) return std::to_string(base_[slot]);
  for (const space::Derived& derived : definition_.derived) {
    if (derived.slot == slot) return fmt::format("({})", write(derived.expression.text()));
  }
  return definition_.scope.names()[slot];
}

std::string PythonWriter::write(std::string_view expression) const {
  const auto compiled = space::Expression::compile(expression, definition_.scope);
  if (!compiled) throw Error(ErrorCode::usage, compiled.error().with_caret(expression));
  if (is_python(*compiled)) return std::string(expression);
  const space::Syntax syntax = space::parse_expression(expression, definition_.scope);
  return Nodes(*this, syntax, expression).write(syntax.root);
}

}  // namespace tuner::interop
