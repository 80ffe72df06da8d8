// SPDX-License-Identifier: Apache-2.0
#include "tuner/space/syntax.hpp"

#include "tuner/core/suggest.hpp"
#include "tuner/space/vocabulary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

namespace tuner::space {
namespace {

constexpr std::size_t kMaximumNesting = 64;

/// Recursive descent, one function a level of binding, loosest first. Python's levels, so that
/// `A & B == C` compares the masked value.
class Parser {
 public:
  Parser(std::string_view text, const Scope& scope) : scope_(scope), tokens_(tokenize(text)) {}

  Syntax run() {
    if (current().kind == TokenKind::end) fail("an expression is missing", current());
    syntax_.root = conditional();
    if (current().kind != TokenKind::end) {
      fail(fmt::format("unexpected '{}'", current().text), current());
    }
    return std::move(syntax_);
  }

 private:
  /// Counts how deep the recursion is; what nests too deep is refused before it can exhaust stacks.
  class Nesting {
   public:
    explicit Nesting(Parser& parser) : parser_(parser) {
      if (++parser_.nesting_ > kMaximumNesting + 1) {
        parser_.fail(fmt::format("nested deeper than {} levels", kMaximumNesting),
                     parser_.current());
      }
    }
    ~Nesting() { --parser_.nesting_; }
    Nesting(const Nesting&) = delete;
    Nesting& operator=(const Nesting&) = delete;

   private:
    Parser& parser_;
  };

  [[noreturn]] void fail(std::string message, const Token& token) const {
    throw ExpressionError{std::move(message), token.column, std::max<std::size_t>(token.length, 1)};
  }

  const Token& current() const { return tokens_[at_]; }
  const Token& peek() const { return tokens_[std::min(at_ + 1, tokens_.size() - 1)]; }

  bool is_symbol(const Token& token, std::string_view text) const {
    return token.kind == TokenKind::symbol && token.text == text;
  }
  bool is_name(const Token& token, std::string_view text) const {
    return token.kind == TokenKind::name && token.text == text;
  }
  bool accept(std::string_view text) {
    const bool found = is_symbol(current(), text) || is_name(current(), text);
    if (found) ++at_;
    return found;
  }
  void expect(std::string_view text) {
    if (accept(text)) return;
    fail(current().kind == TokenKind::end
             ? fmt::format("'{}' is missing at the end", text)
             : fmt::format("expected '{}' instead of '{}'", text, current().text),
         current());
  }

  std::size_t add(Node node, std::size_t column) {
    const Token& last = tokens_[at_ - 1];
    node.column = column;
    node.length = last.column + last.length - column;
    syntax_.nodes.push_back(std::move(node));
    return syntax_.nodes.size() - 1;
  }

  const Node& node(std::size_t index) const { return syntax_.nodes[index]; }

  /// Words are names of choices: there is nothing to calculate with them.
  std::size_t number(std::size_t index) const {
    if (node(index).value_kind == ValueKind::word) {
      throw ExpressionError{"a word can only be compared, with == != or in", node(index).column,
                            node(index).length};
    }
    return index;
  }

  std::size_t conditional() {
    const Nesting nesting(*this);
    const std::size_t column = current().column;
    const std::size_t condition = logical_or();
    if (!accept("?")) return condition;
    const std::size_t yes = conditional();
    expect(":");
    const std::size_t no = conditional();
    if (node(yes).value_kind != node(no).value_kind) {
      throw ExpressionError{"one branch is a word and the other a number", column,
                            node(no).column + node(no).length - column};
    }
    return add({.kind = NodeKind::conditional,
                .value_kind = node(yes).value_kind,
                .operands = {number(condition), yes, no}},
               column);
  }

  std::size_t logical_or() {
    const std::size_t column = current().column;
    std::size_t left = logical_and();
    while (accept("or") || accept("||")) {
      const std::size_t right = logical_and();
      left = add({.kind = NodeKind::logical_or, .operands = {number(left), number(right)}}, column);
    }
    return left;
  }

  std::size_t logical_and() {
    const std::size_t column = current().column;
    std::size_t left = logical_not();
    while (accept("and") || accept("&&")) {
      const std::size_t right = logical_not();
      left =
          add({.kind = NodeKind::logical_and, .operands = {number(left), number(right)}}, column);
    }
    return left;
  }

  std::size_t logical_not() {
    const std::size_t column = current().column;
    if (!accept("not")) return comparison();
    const Nesting nesting(*this);
    return unary_node(Operation::logical_not, logical_not(), column);
  }

  std::size_t unary_node(Operation operation, std::size_t operand, std::size_t column) {
    return add({.kind = NodeKind::unary, .operation = operation, .operands = {number(operand)}},
               column);
  }

  std::optional<Operation> comparison_operator() {
    if (current().kind != TokenKind::symbol) return std::nullopt;
    const auto operation = find_comparison(current().text);
    if (operation) ++at_;
    return operation;
  }

  std::size_t comparison() {
    const std::size_t column = current().column;
    const std::size_t first = arithmetic(1);
    if (is_name(current(), "in") || (is_name(current(), "not") && is_name(peek(), "in"))) {
      return membership(first, column);
    }
    Node chain{.kind = NodeKind::comparison, .operands = {first}};
    while (const auto operation = comparison_operator()) {
      chain.operands.push_back(arithmetic(1));
      chain.comparisons.push_back(*operation);
      check_comparable(chain);
    }
    return chain.comparisons.empty() ? first : add(std::move(chain), column);
  }

  /// The last two operands of a comparison must be of one kind, and words have no order.
  void check_comparable(const Node& chain) const {
    const Node& left = node(chain.operands[chain.operands.size() - 2]);
    const Node& right = node(chain.operands.back());
    check_same_kind(left, right);
    const Operation operation = chain.comparisons.back();
    const bool ordered = operation != Operation::equal && operation != Operation::not_equal;
    if (ordered) number(chain.operands.back());
  }

  void check_same_kind(const Node& left, const Node& right) const {
    if (left.value_kind == right.value_kind) return;
    throw ExpressionError{"a word cannot be compared with a number", left.column,
                          right.column + right.length - left.column};
  }

  std::size_t membership(std::size_t element, std::size_t column) {
    const bool negated = accept("not");
    expect("in");
    const std::string_view close = is_symbol(current(), "[") ? "]" : ")";
    if (!accept("[") && !accept("(")) fail("expected a list: in [1, 2, 4]", current());
    Node result{.kind = NodeKind::membership, .operands = {element}};
    do {
      result.operands.push_back(conditional());
      check_same_kind(node(element), node(result.operands.back()));
    } while (accept(","));
    expect(close);
    const std::size_t found = add(std::move(result), column);
    return negated ? unary_node(Operation::logical_not, found, column) : found;
  }

  const ArithmeticOperator* arithmetic_operator(int least_precedence) const {
    if (current().kind != TokenKind::symbol) return nullptr;
    const ArithmeticOperator* found = find_arithmetic(current().text);
    return found != nullptr && found->precedence >= least_precedence ? found : nullptr;
  }

  std::size_t arithmetic(int least_precedence) {
    const std::size_t column = current().column;
    std::size_t left = unary();
    while (const ArithmeticOperator* found = arithmetic_operator(least_precedence)) {
      ++at_;
      const std::size_t right = arithmetic(found->precedence + 1);
      left = add({.kind = NodeKind::binary,
                  .operation = found->operation,
                  .operands = {number(left), number(right)}},
                 column);
    }
    return left;
  }

  std::size_t unary() {
    const std::size_t column = current().column;
    if (is_symbol(current(), "-") && peek().kind == TokenKind::number) return negative_number();
    std::optional<Operation> operation;
    if (accept("-"))
      operation = Operation::negate;
    else if (accept("~"))
      operation = Operation::complement;
    else if (accept("!"))
      operation = Operation::logical_not;
    else if (!accept("+"))
      return primary();
    const Nesting nesting(*this);
    const std::size_t operand = number(unary());
    return operation ? unary_node(*operation, operand, column) : operand;
  }

  /// Sign and digits together, because the smallest integer has no positive counterpart.
  std::size_t negative_number() {
    const std::size_t column = current().column;
    at_ += 2;
    const std::uint64_t magnitude = tokens_[at_ - 1].number;
    return constant(static_cast<std::int64_t>(std::uint64_t{0} - magnitude), column);
  }

  std::size_t constant(std::int64_t value, std::size_t column) {
    return add({.kind = NodeKind::constant, .value = value}, column);
  }

  std::size_t primary() {
    const Token token = current();
    if (token.kind == TokenKind::number) {
      if (token.number > std::uint64_t{std::numeric_limits<std::int64_t>::max()}) {
        fail("the number does not fit in 64 bits", token);
      }
      ++at_;
      return constant(static_cast<std::int64_t>(token.number), token.column);
    }
    if (token.kind == TokenKind::word) return word();
    if (token.kind == TokenKind::name) return name();
    if (accept("(")) {
      const std::size_t inner = conditional();
      expect(")");
      return inner;
    }
    fail(token.kind == TokenKind::end ? "the expression ends where a value is expected"
                                      : fmt::format("expected a value instead of '{}'", token.text),
         token);
  }

  std::size_t word() {
    const Token token = current();
    const std::int64_t* value = scope_.find_word(token.text);
    if (value == nullptr) {
      fail(fmt::format("no parameter has the value '{}'{}", token.text,
                       did_you_mean(token.text, scope_.words())),
           token);
    }
    ++at_;
    return add({.kind = NodeKind::constant, .value_kind = ValueKind::word, .value = *value},
               token.column);
  }

  std::size_t name() {
    const Token token = current();
    if (accept("True") || accept("true")) return constant(1, token.column);
    if (accept("False") || accept("false")) return constant(0, token.column);
    if (is_keyword(token.text))
      fail(fmt::format("expected a value before '{}'", token.text), token);
    if (is_symbol(peek(), "(")) return call();
    const Scope::Symbol* symbol = scope_.find(token.text);
    if (symbol == nullptr) fail(unknown_name(token.text), token);
    ++at_;
    return add({.kind = NodeKind::slot,
                .value_kind = symbol->kind,
                .value = static_cast<std::int64_t>(symbol->slot)},
               token.column);
  }

  std::string unknown_name(std::string_view name) const {
    if (find_function(name) != nullptr) {
      return fmt::format("'{}' is a function and needs arguments: {}(…)", name, name);
    }
    std::vector<std::string> names = scope_.names();
    names.insert(names.end(), function_names().begin(), function_names().end());
    if (!closest(name, names) && !name.starts_with("dev.")) {
      // No similar name: list what the author declared rather than every device attribute.
      std::erase_if(names, [](const std::string& known) { return known.starts_with("dev."); });
      names.emplace_back("dev.*");
    }
    return fmt::format("unknown name '{}'{}", name, did_you_mean(name, names));
  }

  /// bytes(A), A being one of the problem's types: by the value of its dimension.
  std::size_t bytes() {
    const std::size_t column = current().column;
    at_ += 2;
    const Token name = current();
    const Scope::Bytes* found = scope_.find_bytes(name.text);
    if (found == nullptr) {
      fail(fmt::format("bytes takes the name of a type{}",
                       did_you_mean(name.text, scope_.names_with_bytes())),
           name);
    }
    ++at_;
    expect(")");
    std::size_t result = constant(found->by_value.back(), column);
    for (std::size_t value = found->by_value.size() - 1; value-- > 0;) {
      const std::size_t slot = add({.kind = NodeKind::slot,
                                    .value_kind = ValueKind::word,
                                    .value = static_cast<std::int64_t>(found->slot)},
                                   column);
      const std::size_t is = add({.kind = NodeKind::constant,
                                  .value_kind = ValueKind::word,
                                  .value = static_cast<std::int64_t>(value)},
                                 column);
      const std::size_t condition = add(
          {.kind = NodeKind::comparison, .operands = {slot, is}, .comparisons = {Operation::equal}},
          column);
      const std::size_t yes = constant(found->by_value[value], column);
      result = add({.kind = NodeKind::conditional, .operands = {condition, yes, result}}, column);
    }
    return result;
  }

  std::size_t call() {
    if (current().text == "bytes" && !scope_.names_with_bytes().empty()) return bytes();
    const Token token = current();
    const Function* function = find_function(token.text);
    if (function == nullptr) {
      fail(fmt::format("unknown function '{}'{}", token.text,
                       did_you_mean(token.text, function_names())),
           token);
    }
    at_ += 2;
    std::vector<std::size_t> arguments;
    if (!is_symbol(current(), ")")) {
      do {
        arguments.push_back(number(conditional()));
      } while (accept(","));
    }
    expect(")");
    if (arguments.size() < function->least_arguments ||
        arguments.size() > function->most_arguments) {
      const bool open = function->most_arguments == kAnyNumber;
      fail(fmt::format("{} takes {}{} argument{}, not {}", function->name, open ? "at least " : "",
                       function->least_arguments, function->least_arguments == 1 ? "" : "s",
                       arguments.size()),
           token);
    }
    return apply(*function, arguments, token.column);
  }

  /// min and max of several arguments are folded from the left.
  std::size_t apply(const Function& function, const std::vector<std::size_t>& arguments,
                    std::size_t column) {
    if (arguments.size() == 1) return unary_node(function.operation, arguments[0], column);
    std::size_t result = arguments[0];
    for (std::size_t i = 1; i < arguments.size(); ++i) {
      result = add({.kind = NodeKind::binary,
                    .operation = function.operation,
                    .operands = {result, arguments[i]}},
                   column);
    }
    return result;
  }

  const Scope& scope_;
  std::vector<Token> tokens_;
  std::size_t at_ = 0;
  std::size_t nesting_ = 0;
  Syntax syntax_;
};

}  // namespace

Syntax parse_expression(std::string_view text, const Scope& scope) {
  return Parser(text, scope).run();
}

}  // namespace tuner::space
