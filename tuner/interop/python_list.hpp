// SPDX-License-Identifier: Apache-2.0
// Internal to interop: the lists of values in T1 files.
#pragma once

#include "tuner/core/json.hpp"

#include <nlohmann/json.hpp>

#include <string_view>
#include <vector>

namespace tuner::interop {

/// The elements of a list as Python writes it: literals, [2**i for i in range(6) if …],
/// list(range(32, 1025, 32)), lists joined with +. Numbers, booleans and strings; the functions
/// list, range, min, max, abs, int and float; no other names, so that nothing but arithmetic can
/// happen. Throws Error(usage): "<where>: <why>" with the text and a caret under the place. So it
/// does beyond 65,536 elements or a million steps.
[[nodiscard]] std::vector<Json> python_list(std::string_view text, std::string_view where);

}  // namespace tuner::interop
