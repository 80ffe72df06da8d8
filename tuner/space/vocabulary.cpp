// SPDX-License-Identifier: Apache-2.0
#include "tuner/space/vocabulary.hpp"

#include <algorithm>
#include <array>

namespace tuner::space {
namespace {

using namespace std::string_view_literals;

constexpr std::array kKeywords = {"and"sv,  "or"sv,    "not"sv,  "in"sv,
                                  "true"sv, "false"sv, "True"sv, "False"sv};

struct Comparison {
  std::string_view symbol;
  Operation operation;
};
constexpr std::array kComparisons = {
    Comparison{"<", Operation::less},    Comparison{"<=", Operation::less_equal},
    Comparison{">", Operation::greater}, Comparison{">=", Operation::greater_equal},
    Comparison{"==", Operation::equal},  Comparison{"!=", Operation::not_equal},
};

constexpr std::array kArithmetic = {
    ArithmeticOperator{"|", Operation::bit_or, 1},
    ArithmeticOperator{"^", Operation::bit_xor, 2},
    ArithmeticOperator{"&", Operation::bit_and, 3},
    ArithmeticOperator{"<<", Operation::shift_left, 4},
    ArithmeticOperator{">>", Operation::shift_right, 4},
    ArithmeticOperator{"+", Operation::add, 5},
    ArithmeticOperator{"-", Operation::subtract, 5},
    ArithmeticOperator{"*", Operation::multiply, 6},
    ArithmeticOperator{"/", Operation::divide, 6},
    ArithmeticOperator{"//", Operation::floor_divide, 6},
    ArithmeticOperator{"%", Operation::modulo, 6},
};

constexpr std::array kFunctions = {
    Function{"min", Operation::minimum, 2, kAnyNumber},
    Function{"max", Operation::maximum, 2, kAnyNumber},
    Function{"abs", Operation::absolute, 1, 1},
    Function{"ceil_div", Operation::ceil_divide, 2, 2},
    Function{"is_pow2", Operation::is_power_of_two, 1, 1},
    Function{"log2", Operation::log2, 1, 1},
    Function{"align_up", Operation::align_up, 2, 2},
};

}  // namespace

bool is_keyword(std::string_view word) {
  return std::find(kKeywords.begin(), kKeywords.end(), word) != kKeywords.end();
}

std::optional<Operation> find_comparison(std::string_view symbol) {
  for (const Comparison& comparison : kComparisons) {
    if (comparison.symbol == symbol) return comparison.operation;
  }
  return std::nullopt;
}

const ArithmeticOperator* find_arithmetic(std::string_view symbol) {
  for (const ArithmeticOperator& candidate : kArithmetic) {
    if (candidate.symbol == symbol) return &candidate;
  }
  return nullptr;
}

const Function* find_function(std::string_view name) {
  for (const Function& function : kFunctions) {
    if (function.name == name) return &function;
  }
  return nullptr;
}

const std::vector<std::string>& function_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> result;
    for (const Function& function : kFunctions) result.emplace_back(function.name);
    return result;
  }();
  return names;
}

}  // namespace tuner::space
