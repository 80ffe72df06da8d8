// SPDX-License-Identifier: Apache-2.0
#include "tuner/interop/python_list.hpp"

#include "tuner/core/error.hpp"
#include "tuner/interop/python_arithmetic.hpp"
#include "tuner/interop/python_syntax.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace tuner::interop {
namespace {

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
    Json left = value(node.operands[0]);
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
