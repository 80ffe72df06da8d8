// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace tuner {

/// JSON objects keep the order of the file: parameters are tried and shown as their author wrote
/// them.
using Json = nlohmann::ordered_json;

/// Parses a document from outside: comments are allowed, duplicate keys are refused, as is nesting
/// deeper than 32. Throws Error(usage) with `origin` (a path, say), line and column.
[[nodiscard]] Json parse_json(std::string_view text, std::string_view origin);

/// A number that may be absent: null without one.
[[nodiscard]] Json number_or_null(const std::optional<double>& number);

/// A foreign text as a message shows it: quoted, control characters escaped, cut when long.
[[nodiscard]] std::string in_quotes(std::string_view text);

}  // namespace tuner
