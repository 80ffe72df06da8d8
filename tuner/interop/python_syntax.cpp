// SPDX-License-Identifier: Apache-2.0
#include "tuner/interop/python_syntax.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <initializer_list>

namespace tuner::interop {
namespace {

/// The words of Python's lists.
enum class PythonTokenKind { number, string, name, symbol, end };

struct PythonToken {
  PythonTokenKind kind = PythonTokenKind::end;
  std::string_view text;  ///< of a string without its quotes
  std::size_t column = 0;
};

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

class Tokenizer {
 public:
  explicit Tokenizer(std::string_view text) : text_(text) {}

  std::vector<PythonToken> tokens() {
    std::vector<PythonToken> tokens;
    do {
      at_ = std::min(text_.find_first_not_of(" \t\r\n", at_), text_.size());
      tokens.push_back(next());
    } while (tokens.back().kind != PythonTokenKind::end);
    return tokens;
  }

 private:
  PythonToken take(PythonTokenKind kind, std::size_t length) {
    const PythonToken token{kind, text_.substr(at_, length), at_};
    at_ += length;
    return token;
  }

  template <class Accepts>
  std::size_t run(Accepts accepts) const {
    std::size_t end = at_;
    while (end < text_.size() && accepts(text_[end])) ++end;
    return end - at_;
  }

  PythonToken next() {
    if (at_ == text_.size()) return {PythonTokenKind::end, {}, at_};
    const char c = text_[at_];
    if (is_letter(c)) {
      return take(PythonTokenKind::name, run([](char d) { return is_letter(d) || is_digit(d); }));
    }
    const bool fraction = c == '.' && at_ + 1 < text_.size() && is_digit(text_[at_ + 1]);
    if (is_digit(c) || fraction) return take(PythonTokenKind::number, number_length());
    if (c == '"' || c == '\'') return string(c);
    for (const std::string_view symbol : {"**", "//", "<<", ">>", "<=", ">=", "==", "!="}) {
      if (text_.substr(at_).starts_with(symbol)) return take(PythonTokenKind::symbol, 2);
    }
    if (std::string_view("+-*/%<>()[],").find(c) != std::string_view::npos) {
      return take(PythonTokenKind::symbol, 1);
    }
    throw PythonError{"a character that cannot be in a list of values", at_};
  }

  /// Digits, a fraction, an exponent: "1e-3" is one token and "1-3" are three.
  std::size_t number_length() const {
    std::size_t end = at_;
    while (end < text_.size()) {
      const char c = text_[end];
      const char before = end > at_ ? text_[end - 1] : '0';
      const bool sign = (c == '+' || c == '-') && (before == 'e' || before == 'E');
      if (!is_digit(c) && !is_letter(c) && c != '.' && !sign) break;
      ++end;
    }
    return end - at_;
  }

  PythonToken string(char quote) {
    const std::size_t end = text_.find(quote, at_ + 1);
    if (end == std::string_view::npos) throw PythonError{"a string is not closed", at_};
    const PythonToken token{PythonTokenKind::string, text_.substr(at_ + 1, end - at_ - 1), at_};
    if (token.text.find('\\') != std::string_view::npos) {
      throw PythonError{"a string with a backslash is not supported", at_};
    }
    at_ = end + 1;
    return token;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

/// The tokens of `text`, the last one `end`. They point into `text`. Throws PythonError.
std::vector<PythonToken> python_tokens(std::string_view text) {
  return Tokenizer(text).tokens();
}

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
