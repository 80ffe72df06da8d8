// SPDX-License-Identifier: Apache-2.0
// Reading one parameter of a space file, and the small checks that the other parts share.
#pragma once

#include "tuner/core/json.hpp"
#include "tuner/space/definition.hpp"

#include <span>
#include <string>
#include <string_view>

namespace tuner::space {

/// Throws Error(usage): "<where>: <why>".
[[noreturn]] void refuse(std::string_view where, std::string_view why);

/// Throws Error(usage) unless `json` is an object with no other keys than these.
void expect_object(const Json& json, std::span<const std::string> keys, std::string_view where);

/// The text of a string member. Throws Error(usage) when it is missing or something else.
[[nodiscard]] std::string string_member(const Json& object, const std::string& key,
                                        std::string_view where);

/// Compiles an expression that yields a number. `later` are names that stand further down in the
/// file and so cannot be used yet. Throws Error(usage) with a caret under the place.
[[nodiscard]] Expression compile_number(const Json& text, const Scope& scope,
                                        std::span<const std::string> later, std::string_view where);

/// Reads a parameter, all but its slot and its `default_at`; its words become known to `scope`, and
/// its `when` may use what `scope` already has. Throws Error(usage).
[[nodiscard]] Parameter parse_parameter(const std::string& name, const Json& json, Scope& scope,
                                        std::span<const std::string> later, std::string_view where);

}  // namespace tuner::space
