// SPDX-License-Identifier: Apache-2.0
#include "tuner/interop/python_list.hpp"

#include "tuner/core/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <string>
#include <system_error>
#include <utility>

namespace tuner::interop {
namespace {

constexpr std::size_t kLongestText = std::size_t{64} << 10;
constexpr std::size_t kMostElements = std::size_t{1} << 16;
constexpr std::size_t kMostSteps = 1'000'000;
constexpr int kDeepestList = 32;

/// What is wrong with a text, and where.
struct PythonError {
  std::string message;
  std::size_t column = 0;  ///< 0-based; 0: the whole text
};

[[noreturn]] void python_fail(std::string message) {
  throw PythonError{std::move(message), 0};
}

[[noreturn]] void fail_overflow() {
  python_fail("a number does not fit in 64 bits");
}

[[noreturn]] void fail_too_long() {
  python_fail(fmt::format("more than {} elements", kMostElements));
}

// Python's operators on numbers, booleans, strings and lists. All throw PythonError for operands
// that have no result, and where a number does not fit in 64 bits.

/// True and False are numbers, as in Python.
bool is_number(const Json& value) {
  return value.is_number() || value.is_boolean();
}

bool is_whole(const Json& value) {
  return value.is_number_integer() || value.is_boolean();
}

std::int64_t floor_divide(std::int64_t a, std::int64_t b) {
  if (b == 0) python_fail("division by zero");
  if (b == -1 && a == INT64_MIN) fail_overflow();
  const std::int64_t quotient = a / b;
  return (a % b != 0) && ((a < 0) != (b < 0)) ? quotient - 1 : quotient;
}

/// What floor_divide leaves: it has the sign of the divisor.
std::int64_t modulo(std::int64_t a, std::int64_t b) {
  if (b == 0) python_fail("division by zero");
  const std::int64_t rest = b == -1 ? 0 : a % b;
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

std::int64_t multiply(std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  if (__builtin_mul_overflow(a, b, &result)) fail_overflow();
  return result;
}

std::int64_t power(std::int64_t base, std::int64_t exponent) {
  constexpr std::int64_t kLargestExponent = 4096;
  if (exponent > kLargestExponent) python_fail("an exponent is too large");
  std::int64_t result = 1;
  for (std::int64_t i = 0; i < exponent; ++i) result = multiply(result, base);
  return result;
}

std::int64_t shifted(std::int64_t value, const std::string& operation, std::int64_t by) {
  if (by < 0 || by > 62) python_fail("a shift by a negative or too large count");
  return operation == ">>" ? value >> by : multiply(value, std::int64_t{1} << by);
}

Json whole_arithmetic(const std::string& operation, std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  if (operation == "+" && __builtin_add_overflow(a, b, &result)) fail_overflow();
  if (operation == "-" && __builtin_sub_overflow(a, b, &result)) fail_overflow();
  if (operation == "*") result = multiply(a, b);
  if (operation == "//") result = floor_divide(a, b);
  if (operation == "%") result = modulo(a, b);
  if (operation == "**") result = power(a, b);
  if (operation == "<<" || operation == ">>") result = shifted(a, operation, b);
  return result;
}

Json real_arithmetic(const std::string& operation, double a, double b) {
  const bool divides = operation == "/" || operation == "//" || operation == "%";
  if (divides && b == 0) python_fail("division by zero");
  double result = 0;
  if (operation == "+") result = a + b;
  if (operation == "-") result = a - b;
  if (operation == "*") result = a * b;
  if (operation == "/") result = a / b;
  if (operation == "//") result = std::floor(a / b);
  if (operation == "%") result = a - std::floor(a / b) * b;
  if (operation == "**") result = std::pow(a, b);
  if (!std::isfinite(result)) python_fail("a number is not finite");
  return result;
}

/// A whole number; True is 1.
std::int64_t python_whole(const Json& value) {
  if (!is_whole(value)) python_fail("a whole number is needed");
  return value.is_boolean() ? static_cast<std::int64_t>(value.get<bool>())
                            : value.get<std::int64_t>();
}

/// Any number.
double python_real(const Json& value) {
  if (!is_number(value)) python_fail("a number is needed");
  return value.is_boolean() ? static_cast<double>(value.get<bool>()) : value.get<double>();
}

/// Whether `if` takes it: neither 0 nor empty.
bool python_truth(const Json& value) {
  if (value.is_string()) return !value.get_ref<const std::string&>().empty();
  if (value.is_array()) return !value.empty();
  return python_real(value) != 0;
}

/// + - * / // % ** << >>, and + of lists.
Json python_arithmetic(const std::string& operation, const Json& a, const Json& b) {
  if (operation == "+" && a.is_array() && b.is_array()) {
    Json joined = a;
    for (const Json& element : b) joined.push_back(element);
    if (joined.size() > kMostElements) fail_too_long();
    return joined;
  }
  if (!is_number(a) || !is_number(b)) {
    python_fail(fmt::format("'{}' needs two numbers, or two lists for '+'", operation));
  }
  const bool stays_whole = operation != "/" && (operation != "**" || python_real(b) >= 0);
  if (is_whole(a) && is_whole(b) && stays_whole) {
    return whole_arithmetic(operation, python_whole(a), python_whole(b));
  }
  if (operation == "<<" || operation == ">>") python_fail("a shift needs whole numbers");
  return real_arithmetic(operation, python_real(a), python_real(b));
}

/// < <= > >= == != in, not in.
bool python_compare(const std::string& operation, const Json& a, const Json& b) {
  if (operation == "in" || operation == "not in") {
    if (!b.is_array()) python_fail("'in' needs a list");
    const bool found =
        std::ranges::any_of(b, [&](const Json& it) { return python_compare("==", a, it); });
    return found == (operation == "in");
  }
  const bool numbers = is_number(a) && is_number(b);
  if (operation == "==") return numbers ? python_real(a) == python_real(b) : a == b;
  if (operation == "!=") return numbers ? python_real(a) != python_real(b) : a != b;
  if (!numbers) python_fail(fmt::format("'{}' needs two numbers", operation));
  if (operation == "<") return python_real(a) < python_real(b);
  if (operation == "<=") return python_real(a) <= python_real(b);
  return operation == ">" ? python_real(a) > python_real(b) : python_real(a) >= python_real(b);
}

Json range(const std::vector<Json>& arguments) {
  if (arguments.empty() || arguments.size() > 3) python_fail("range takes one to three numbers");
  const std::int64_t first = arguments.size() == 1 ? 0 : python_whole(arguments[0]);
  const std::int64_t end = python_whole(arguments[arguments.size() == 1 ? 0 : 1]);
  const std::int64_t step = arguments.size() == 3 ? python_whole(arguments[2]) : 1;
  if (step == 0) python_fail("the step of a range must not be 0");
  Json numbers = Json::array();
  std::int64_t number = first;
  while (step > 0 ? number < end : number > end) {
    if (numbers.size() == kMostElements) fail_too_long();
    numbers.push_back(number);
    if (__builtin_add_overflow(number, step, &number)) break;
  }
  return numbers;
}

Json extreme(const std::string& function, const std::vector<Json>& arguments) {
  const bool of_list = arguments.size() == 1 && arguments.front().is_array();
  const Json values = of_list ? arguments.front() : Json(arguments);
  if (values.empty()) python_fail(fmt::format("{} of nothing", function));
  const auto less = [](const Json& a, const Json& b) { return python_real(a) < python_real(b); };
  for (const Json& value : values) static_cast<void>(python_real(value));
  return function == "min" ? *std::ranges::min_element(values, less)
                           : *std::ranges::max_element(values, less);
}

Json to_whole(const Json& value) {
  if (value.is_number_integer() || value.is_boolean()) return python_whole(value);
  constexpr double kLimit = 9e18;
  const double number = std::trunc(python_real(value));
  if (std::abs(number) > kLimit) fail_overflow();
  return static_cast<std::int64_t>(number);
}

Json call(const std::string& function, const std::vector<Json>& arguments) {
  constexpr std::array<std::string_view, 7> kKnown = {"list", "range", "min",  "max",
                                                      "abs",  "int",   "float"};
  if (std::ranges::find(kKnown, function) == kKnown.end()) {
    python_fail(
        fmt::format("unknown function '{}' (known: {})", function, fmt::join(kKnown, ", ")));
  }
  if (function == "range") return range(arguments);
  if (function == "min" || function == "max") return extreme(function, arguments);
  if (arguments.size() != 1) python_fail(fmt::format("{} takes one argument", function));
  const Json& only = arguments.front();
  if (function == "list") {
    if (!only.is_array()) python_fail("list takes a list or a range");
    return only;
  }
  if (function == "int") return to_whole(only);
  if (function == "float") return python_real(only);
  return python_real(only) < 0 ? python_arithmetic("-", 0, only)
                               : python_arithmetic("+", 0, only);  // abs
}

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

/// Computes a text as it reads it. Where nothing is to be computed, as behind `False and`, it only
/// looks whether the text is one that can be: then values are null.
class Reader {
 public:
  explicit Reader(std::string_view text) : tokens_(Tokenizer(text).tokens()) {}

  /// What is wrong with the text as a text is said before anything is computed.
  Json value() {
    skip([this] { return disjunction(); });
    if (here().kind != PythonTokenKind::end) fail("expected an operator or the end");
    at_ = 0;
    return disjunction();
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
  /// Bounds the time that loops take.
  void count_steps(std::size_t steps) {
    steps_ += steps;
    if (steps_ > kMostSteps) python_fail("takes too many steps to compute");
  }
  template <class Read>
  void skip(Read read) {
    const bool before = std::exchange(is_skipping_, true);
    read();
    is_skipping_ = before;
  }

  /// Operators of one level, associating to the left.
  template <class Operand>
  Json level(std::initializer_list<std::string_view> operators, Operand operand) {
    Json left = operand();
    for (;;) {
      const auto* const found = std::ranges::find_if(operators, [&](auto it) { return is(it); });
      if (found == operators.end()) return left;
      ++at_;
      left = arithmetic(std::string(*found), left, operand());
    }
  }
  Json arithmetic(const std::string& operation, const Json& left, const Json& right) {
    if (is_skipping_) return {};
    count_steps(left.is_array() ? 1 + left.size() : 1);  // limits repeated concatenation
    return python_arithmetic(operation, left, right);
  }

  /// `and`, `or`: the operand on the right is computed unless the one on the left decides.
  template <class Operand>
  Json logical(std::string_view operation, bool deciding, Operand operand) {
    Json left = operand();
    while (accept(operation)) {
      if (is_skipping_ || python_truth(left) == deciding) {
        skip(operand);
      } else {
        left = operand();
      }
    }
    return left;
  }

  Json disjunction() {
    return logical("or", true, [&] { return logical("and", false, [&] { return inversion(); }); });
  }

  Json inversion() {
    const Depth depth(*this);
    if (!accept("not")) return comparison();
    const Json operand = inversion();
    return is_skipping_ ? Json() : Json(!python_truth(operand));
  }

  /// The operator of a comparison that stands here; empty: none.
  std::string comparing() {
    if (accept("not")) {
      expect("in");
      return "not in";
    }
    for (const std::string_view known : {"<", "<=", ">", ">=", "==", "!=", "in"}) {
      if (accept(known)) return std::string(known);
    }
    return "";
  }

  /// a < b <= c: what follows a comparison that does not hold is not computed.
  Json comparison() {
    Json left = shift();
    Json holds;
    for (std::string operation = comparing(); !operation.empty(); operation = comparing()) {
      if (is_skipping_ || holds == false) {
        skip([this] { return shift(); });
        continue;
      }
      Json right = shift();
      count_steps(right.is_array() ? 1 + right.size() : 1);
      holds = python_compare(operation, left, right);
      left = std::move(right);
    }
    return holds.is_null() ? left : holds;
  }

  Json shift() {
    return level({"<<", ">>"}, [&] { return level({"+", "-"}, [&] { return term(); }); });
  }
  Json term() {
    return level({"*", "/", "//", "%"}, [&] { return unary(); });
  }

  Json unary() {
    const Depth depth(*this);
    for (const std::string_view sign : {"-", "+"}) {
      if (accept(sign)) return arithmetic(std::string(sign), 0, unary());
    }
    Json base = atom();
    return accept("**") ? arithmetic("**", base, unary()) : base;
  }

  Json atom() {
    count_steps(1);
    const PythonToken token = here();
    switch (token.kind) {
      case PythonTokenKind::number:
        ++at_;
        return number(token);
      case PythonTokenKind::string:
        ++at_;
        return std::string(token.text);
      case PythonTokenKind::name:
        ++at_;
        return named(std::string(token.text));
      default:
        break;
    }
    if (accept("[")) {
      const Depth depth(*this);
      if (!is_comprehension()) return elements("]");
      Json all = comprehension();
      expect("]");
      return all;
    }
    if (!accept("(")) fail("expected a value");
    Json first = disjunction();
    if (is(",")) return elements(")", Json::array({std::move(first)}));
    expect(")");
    return first;
  }

  static Json number(const PythonToken& token) {
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

  Json named(const std::string& name) {
    if (name == "True" || name == "False") return name == "True";
    if (accept("(")) {
      std::vector<Json> arguments;
      while (!accept(")")) {
        if (!arguments.empty()) expect(",");
        arguments.push_back(is_comprehension() ? comprehension() : disjunction());
      }
      return is_skipping_ ? Json() : call(name, arguments);
    }
    if (is_skipping_) return {};
    const auto found = variables_.find(name);
    if (found != variables_.end()) return found->second;
    python_fail(fmt::format(
        "unknown name '{}': only numbers, strings and the variables of a list are known", name));
  }

  Json elements(std::string_view close, Json before = Json::array()) {
    while (!accept(close)) {
      if (!before.empty()) {
        expect(",");
        if (accept(close)) break;
      }
      before.push_back(disjunction());
    }
    return before;
  }

  /// Whether a `for` ends the element that begins here.
  bool is_comprehension() const {
    int depth = 0;
    for (std::size_t i = at_; depth >= 0 && tokens_[i].kind != PythonTokenKind::end; ++i) {
      const auto& [kind, text, column] = tokens_[i];
      if (kind == PythonTokenKind::string) continue;
      if (depth == 0 && text == "for") return true;
      if (depth == 0 && text == ",") return false;
      if (text == "[" || text == "(") ++depth;
      if (text == "]" || text == ")") --depth;
    }
    return false;
  }

  Json comprehension() {
    const std::size_t element = at_;
    skip([this] { return disjunction(); });
    const std::size_t clauses = at_;
    if (!is("for")) fail("expected ','");
    skip_clauses();
    Json elements = Json::array();
    if (is_skipping_) return elements;
    const std::size_t end = std::exchange(at_, clauses);
    loop(element, elements);
    at_ = end;
    return elements;
  }

  void skip_clauses() {
    constexpr int kMostLoops = 4;
    int loops = 0;
    for (; accept("for"); ++loops) {
      if (here().kind != PythonTokenKind::name) fail("expected a name");
      ++at_;
      expect("in");
      do {
        skip([this] { return disjunction(); });
      } while (accept("if"));
    }
    if (loops > kMostLoops) fail(fmt::format("more than {} loops in one list", kMostLoops));
  }

  /// Runs the loop of the clause that begins here and those inside; the innermost appends to
  /// `elements` what stands at `element`.
  void loop(std::size_t element, Json& elements) {
    if (!accept("for")) {
      if (elements.size() == kMostElements) fail_too_long();
      at_ = element;
      elements.push_back(disjunction());
      return;
    }
    const std::string variable(here().text);
    ++at_;
    expect("in");
    const Json list = disjunction();
    if (!list.is_array()) python_fail("'for' needs a list or a range");
    const std::size_t conditions = at_;
    for (const Json& each : list) {
      variables_[variable] = each;
      at_ = conditions;
      bool holds = true;
      while (holds && accept("if")) holds = python_truth(disjunction());
      if (holds) loop(element, elements);
    }
    variables_.erase(variable);
  }

  /// Counts how deep the reader is, which is how deep the text is nested.
  class Depth {
   public:
    explicit Depth(Reader& reader) : reader_(reader) {
      if (++reader_.depth_ > 4 * kDeepestList) reader_.fail("nested too deep");
    }
    ~Depth() { --reader_.depth_; }
    Depth(const Depth&) = delete;
    Depth& operator=(const Depth&) = delete;

   private:
    Reader& reader_;
  };

  std::vector<PythonToken> tokens_;
  std::size_t at_ = 0;
  int depth_ = 0;
  bool is_skipping_ = false;
  std::map<std::string, Json> variables_;
  std::size_t steps_ = 0;
};

}  // namespace

std::vector<Json> python_list(std::string_view text, std::string_view where) {
  try {
    if (text.size() > kLongestText) {
      throw PythonError{fmt::format("longer than {} bytes", kLongestText), kLongestText};
    }
    const Json value = Reader(text).value();
    if (!value.is_array()) python_fail("must be a list");
    return value.get<std::vector<Json>>();
  } catch (const PythonError& error) {
    const std::string shown(text.substr(0, 200));
    const std::string caret = error.column <= shown.size() && shown.find('\n') == std::string::npos
                                  ? fmt::format("\n    {:>{}}", "^", error.column + 1)
                                  : "";
    throw Error(ErrorCode::usage, fmt::format("{}: {}\n    {}{}", where, error.message, shown,
                                              error.column == 0 ? "" : caret));
  }
}

}  // namespace tuner::interop
