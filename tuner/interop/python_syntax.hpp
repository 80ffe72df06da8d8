// SPDX-License-Identifier: Apache-2.0
// Internal to interop: the part of Python in which T1 files list the values of a parameter.
#pragma once

#include "tuner/core/json.hpp"

#include <nlohmann/json.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tuner::interop {

enum class PythonKind {
  literal,        ///< value
  name,           ///< text: a variable of a comprehension
  unary,          ///< text: - + not
  binary,         ///< text: + - * / // % ** << >> and or
  comparison,     ///< texts between the operands in `operators`: a < b <= c
  call,           ///< text: the function
  list,           ///< the elements
  comprehension,  ///< the element, then for each clause its list and what must hold (see `clauses`)
};

/// `for NAME in LIST if CONDITION if …`
struct PythonClause {
  std::string variable;
  std::size_t list = 0;                 ///< a node
  std::vector<std::size_t> conditions;  ///< nodes
};

struct PythonNode {
  PythonKind kind = PythonKind::literal;
  std::string text{};
  Json value{};
  std::vector<std::size_t> operands{};  ///< nodes
  std::vector<std::string> operators{};
  std::vector<PythonClause> clauses{};
};

struct PythonSyntax {
  std::vector<PythonNode> nodes;
  std::size_t root = 0;
};

/// What is wrong with a text, and where.
struct PythonError {
  std::string message;
  std::size_t column = 0;  ///< 0-based
};

/// Throws a PythonError of a whole expression.
[[noreturn]] inline void python_fail(std::string message) {
  throw PythonError{std::move(message), 0};
}

/// Parses an expression of at most 64 KiB, nested at most 32 deep. Throws PythonError.
[[nodiscard]] PythonSyntax parse_python(std::string_view text);

}  // namespace tuner::interop
