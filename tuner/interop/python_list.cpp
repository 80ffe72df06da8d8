// SPDX-License-Identifier: Apache-2.0
#include "tuner/interop/python_list.hpp"

#include "tuner/core/error.hpp"
#include "tuner/interop/python_syntax.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

namespace tuner::interop {
namespace {

/// The elements that a list may have.
constexpr std::size_t kMostPythonElements = std::size_t{1} << 16;

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
  if (b == -1 && a == INT64_MIN) python_fail("a number does not fit in 64 bits");
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
  if (__builtin_mul_overflow(a, b, &result)) python_fail("a number does not fit in 64 bits");
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
  if (operation == "+" && __builtin_add_overflow(a, b, &result))
    python_fail("a number does not fit in 64 bits");
  if (operation == "-" && __builtin_sub_overflow(a, b, &result))
    python_fail("a number does not fit in 64 bits");
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
    if (joined.size() > kMostPythonElements)
      python_fail(fmt::format("more than {} elements", kMostPythonElements));
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

constexpr std::size_t kMostElements = kMostPythonElements;
constexpr std::size_t kMostSteps = 1'000'000;

Json range(const std::vector<Json>& arguments) {
  if (arguments.empty() || arguments.size() > 3) python_fail("range takes one to three numbers");
  const std::int64_t first = arguments.size() == 1 ? 0 : python_whole(arguments[0]);
  const std::int64_t end = python_whole(arguments[arguments.size() == 1 ? 0 : 1]);
  const std::int64_t step = arguments.size() == 3 ? python_whole(arguments[2]) : 1;
  if (step == 0) python_fail("the step of a range must not be 0");
  Json numbers = Json::array();
  std::int64_t number = first;
  while (step > 0 ? number < end : number > end) {
    if (numbers.size() == kMostElements)
      python_fail(fmt::format("more than {} elements", kMostElements));
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
  if (std::abs(number) > kLimit) python_fail("a number does not fit in 64 bits");
  return static_cast<std::int64_t>(number);
}

Json call(const std::string& function, const std::vector<Json>& arguments) {
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

class Evaluator {
 public:
  explicit Evaluator(const PythonSyntax& syntax) : syntax_(syntax) {}

  Json value(std::size_t index) {
    if (++steps_ > kMostSteps) python_fail("takes too many steps to compute");
    const PythonNode& node = syntax_.nodes[index];
    switch (node.kind) {
      case PythonKind::literal:
        return node.value;
      case PythonKind::name:
        return variable(node.text);
      case PythonKind::unary:
        return unary(node);
      case PythonKind::binary:
        return binary(node);
      case PythonKind::comparison:
        return comparison(node);
      case PythonKind::call:
        return call(known_function(node.text), values(node.operands));
      case PythonKind::list:
        return values(node.operands);
      case PythonKind::comprehension:
        return comprehension(node);
    }
    return {};
  }

 private:
  const Json& variable(const std::string& name) const {
    const auto found = variables_.find(name);
    if (found == variables_.end()) {
      python_fail(
          fmt::format("unknown name '{}': only numbers, strings and the variables of a list are "
                      "known",
                      name));
    }
    return found->second;
  }

  static const std::string& known_function(const std::string& name) {
    for (const std::string_view known : {"list", "range", "min", "max", "abs", "int", "float"}) {
      if (name == known) return name;
    }
    python_fail(
        fmt::format("unknown function '{}' (known: list, range, min, max, abs, int, float)", name));
  }

  std::vector<Json> values(const std::vector<std::size_t>& nodes) {
    std::vector<Json> values;
    for (const std::size_t node : nodes) values.push_back(value(node));
    return values;
  }

  Json unary(const PythonNode& node) {
    const Json operand = value(node.operands.front());
    if (node.text == "not") return !python_truth(operand);
    return python_arithmetic(node.text, 0, operand);
  }

  Json binary(const PythonNode& node) {
    const Json left = value(node.operands[0]);
    if (node.text == "and") return python_truth(left) ? value(node.operands[1]) : left;
    if (node.text == "or") return python_truth(left) ? left : value(node.operands[1]);
    const Json right = value(node.operands[1]);
    steps_ += left.is_array() ? left.size() : 0;  // limits repeated concatenation
    return python_arithmetic(node.text, left, right);
  }

  Json comparison(const PythonNode& node) {
    Json left = value(node.operands.front());
    for (std::size_t i = 0; i < node.operators.size(); ++i) {
      Json right = value(node.operands[i + 1]);
      steps_ += right.is_array() ? right.size() : 0;
      if (!python_compare(node.operators[i], left, right)) return false;
      left = std::move(right);
    }
    return true;
  }

  Json comprehension(const PythonNode& node) { return loop(node, 0, Json::array()); }

  /// Runs one clause's loop and those inside; the innermost appends to `elements`.
  Json loop(const PythonNode& node, std::size_t depth, Json elements) {
    if (depth == node.clauses.size()) {
      if (elements.size() == kMostElements) {
        python_fail(fmt::format("more than {} elements", kMostElements));
      }
      elements.push_back(value(node.operands.front()));
      return elements;
    }
    const PythonClause& clause = node.clauses[depth];
    const Json list = value(clause.list);
    if (!list.is_array()) python_fail("'for' needs a list or a range");
    for (const Json& element : list) {
      variables_[clause.variable] = element;
      const bool holds = std::ranges::all_of(
          clause.conditions, [&](std::size_t condition) { return python_truth(value(condition)); });
      if (holds) elements = loop(node, depth + 1, std::move(elements));
    }
    variables_.erase(clause.variable);
    return elements;
  }

  const PythonSyntax& syntax_;
  std::map<std::string, Json> variables_;
  std::size_t steps_ = 0;
};

}  // namespace

std::vector<Json> python_list(std::string_view text, std::string_view where) {
  try {
    const PythonSyntax syntax = parse_python(text);
    const Json value = Evaluator(syntax).value(syntax.root);
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
