// SPDX-License-Identifier: Apache-2.0
#include "tuner/interop/python_syntax.hpp"

#include "tuner/interop/python_token.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <initializer_list>

namespace tuner::interop {
namespace {

constexpr std::size_t kLongestText = std::size_t{64} << 10;
constexpr int kDeepestList = 32;

class Parser {
 public:
  explicit Parser(std::string_view text) : tokens_(python_tokens(text)) {}

  PythonSyntax parse() {
    syntax_.root = disjunction();
    if (here().kind != PythonTokenKind::end) fail("expected an operator or the end");
    return std::move(syntax_);
  }

 private:
  const PythonToken& here() const { return tokens_[at_]; }
  [[noreturn]] void fail(std::string message) const {
    throw PythonError{std::move(message), here().column};
  }
  bool is(std::string_view text) const {
    const bool quoted =
        here().kind == PythonTokenKind::string || here().kind == PythonTokenKind::end;
    return !quoted && here().text == text;
  }
  bool accept(std::string_view text) {
    if (!is(text)) return false;
    ++at_;
    return true;
  }
  void expect(std::string_view text) {
    if (!accept(text)) fail(fmt::format("expected '{}'", text));
  }
  std::size_t add(PythonNode node) {
    syntax_.nodes.push_back(std::move(node));
    return syntax_.nodes.size() - 1;
  }
  std::size_t binary(std::string_view operation, std::size_t left, std::size_t right) {
    return add(
        {.kind = PythonKind::binary, .text = std::string(operation), .operands = {left, right}});
  }

  /// Operators of one level, associating to the left.
  template <class Operand>
  std::size_t level(std::initializer_list<std::string_view> operators, Operand operand) {
    std::size_t left = operand();
    for (;;) {
      const auto found = std::ranges::find_if(operators, [&](auto it) { return is(it); });
      if (found == operators.end()) return left;
      ++at_;
      left = binary(*found, left, operand());
    }
  }

  std::size_t disjunction() {
    return level({"or"}, [&] { return level({"and"}, [&] { return inversion(); }); });
  }

  std::size_t inversion() {
    const Depth depth(*this);
    if (!accept("not")) return comparison();
    const std::size_t operand = inversion();
    return add({.kind = PythonKind::unary, .text = "not", .operands = {operand}});
  }

  std::size_t comparison() {
    PythonNode node{.kind = PythonKind::comparison, .operands = {shift()}};
    for (;;) {
      std::string operation(here().text);
      const auto known = {"<", "<=", ">", ">=", "==", "!=", "in"};
      if (accept("not")) {
        if (!is("in")) fail("expected 'in'");
        operation = "not in";
      } else if (!std::ranges::any_of(known, [&](auto it) { return is(it); })) {
        break;
      }
      ++at_;
      node.operators.push_back(std::move(operation));
      node.operands.push_back(shift());
    }
    if (node.operators.empty()) return node.operands.front();
    return add(std::move(node));
  }

  std::size_t shift() {
    return level({"<<", ">>"}, [&] { return level({"+", "-"}, [&] { return term(); }); });
  }
  std::size_t term() {
    return level({"*", "/", "//", "%"}, [&] { return unary(); });
  }

  std::size_t unary() {
    const Depth depth(*this);
    for (const std::string_view sign : {"-", "+"}) {
      if (!accept(sign)) continue;
      const std::size_t operand = unary();
      return add({.kind = PythonKind::unary, .text = std::string(sign), .operands = {operand}});
    }
    const std::size_t base = atom();
    return accept("**") ? binary("**", base, unary()) : base;
  }

  std::size_t atom() {
    const PythonToken token = here();
    switch (token.kind) {
      case PythonTokenKind::number:
        ++at_;
        return literal(number(token));
      case PythonTokenKind::string:
        ++at_;
        return literal(std::string(token.text));
      case PythonTokenKind::name:
        return named(token);
      default:
        break;
    }
    if (accept("[")) return elements("]");
    if (accept("(")) {
      const std::size_t first = disjunction();
      if (is(",")) return more_elements({first}, ")");
      expect(")");
      return first;
    }
    fail("expected a value");
  }

  std::size_t literal(Json value) {
    return add({.kind = PythonKind::literal, .value = std::move(value)});
  }

  Json number(const PythonToken& token) const {
    const char* const first = token.text.data();
    const char* const last = first + token.text.size();
    std::int64_t whole = 0;
    if (const auto [stop, error] = std::from_chars(first, last, whole);
        error == std::errc{} && stop == last) {
      return whole;
    }
    double real = 0;
    const auto [stop, error] = std::from_chars(first, last, real);
    if (error != std::errc{} || stop != last) throw PythonError{"not a number", token.column};
    return real;
  }

  std::size_t named(const PythonToken& token) {
    ++at_;
    if (token.text == "True" || token.text == "False") return literal(token.text == "True");
    if (!accept("(")) return add({.kind = PythonKind::name, .text = std::string(token.text)});
    PythonNode call{.kind = PythonKind::call, .text = std::string(token.text)};
    while (!accept(")")) {
      if (!call.operands.empty()) expect(",");
      const std::size_t argument = disjunction();
      call.operands.push_back(is("for") ? comprehension(argument) : argument);
    }
    return add(std::move(call));
  }

  std::size_t elements(std::string_view close) {
    const Depth depth(*this);
    if (accept(close)) return add({.kind = PythonKind::list});
    const std::size_t first = disjunction();
    if (is("for")) {
      const std::size_t all = comprehension(first);
      expect(close);
      return all;
    }
    return more_elements({first}, close);
  }

  std::size_t more_elements(std::vector<std::size_t> operands, std::string_view close) {
    while (!accept(close)) {
      expect(",");
      if (accept(close)) break;
      operands.push_back(disjunction());
    }
    return add({.kind = PythonKind::list, .operands = std::move(operands)});
  }

  std::size_t comprehension(std::size_t element) {
    PythonNode node{.kind = PythonKind::comprehension, .operands = {element}};
    while (accept("for")) {
      PythonClause clause;
      if (here().kind != PythonTokenKind::name) fail("expected a name");
      clause.variable = here().text;
      ++at_;
      expect("in");
      clause.list = disjunction();
      while (accept("if")) clause.conditions.push_back(disjunction());
      node.clauses.push_back(std::move(clause));
    }
    if (node.clauses.size() > 4) fail("more than 4 loops in one list");
    return add(std::move(node));
  }

  /// Counts how deep the parser is, which is how deep the text is nested.
  class Depth {
   public:
    explicit Depth(Parser& parser) : parser_(parser) {
      if (++parser_.depth_ > 4 * kDeepestList) parser_.fail("nested too deep");
    }
    ~Depth() { --parser_.depth_; }
    Depth(const Depth&) = delete;
    Depth& operator=(const Depth&) = delete;

   private:
    Parser& parser_;
  };

  std::vector<PythonToken> tokens_;
  std::size_t at_ = 0;
  int depth_ = 0;
  PythonSyntax syntax_;
};

}  // namespace

PythonSyntax parse_python(std::string_view text) {
  if (text.size() > kLongestText) {
    throw PythonError{fmt::format("longer than {} bytes", kLongestText), kLongestText};
  }
  return Parser(text).parse();
}

}  // namespace tuner::interop
