// SPDX-License-Identifier: Apache-2.0
#include "tuner/interop/python_arithmetic.hpp"

#include "tuner/interop/python_syntax.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace tuner::interop {
namespace {

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

}  // namespace

std::int64_t python_whole(const Json& value) {
  if (!is_whole(value)) python_fail("a whole number is needed");
  return value.is_boolean() ? static_cast<std::int64_t>(value.get<bool>())
                            : value.get<std::int64_t>();
}

double python_real(const Json& value) {
  if (!is_number(value)) python_fail("a number is needed");
  return value.is_boolean() ? static_cast<double>(value.get<bool>()) : value.get<double>();
}

bool python_truth(const Json& value) {
  if (value.is_string()) return !value.get_ref<const std::string&>().empty();
  if (value.is_array()) return !value.empty();
  return python_real(value) != 0;
}

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

}  // namespace tuner::interop
