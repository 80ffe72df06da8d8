// SPDX-License-Identifier: Apache-2.0
// Internal to interop: Python's operators on numbers, booleans, strings and lists. All throw
// PythonError for operands that have no result, and where a number does not fit in 64 bits.
#pragma once

#include "tuner/core/json.hpp"

#include <cstddef>
#include <cstdint>
#include <string>

namespace tuner::interop {

/// The elements that a list may have.
inline constexpr std::size_t kMostPythonElements = std::size_t{1} << 16;

/// A whole number; True is 1.
[[nodiscard]] std::int64_t python_whole(const Json& value);
/// Any number.
[[nodiscard]] double python_real(const Json& value);
/// Whether `if` takes it: neither 0 nor empty.
[[nodiscard]] bool python_truth(const Json& value);
/// + - * / // % ** << >>, and + of lists.
[[nodiscard]] Json python_arithmetic(const std::string& operation, const Json& a, const Json& b);
/// < <= > >= == != in, not in.
[[nodiscard]] bool python_compare(const std::string& operation, const Json& a, const Json& b);

}  // namespace tuner::interop
