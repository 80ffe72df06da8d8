// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/core/json.hpp"

#include <map>
#include <string>
#include <string_view>

namespace tuner::report {

/// Text as the content or a quoted attribute of an element.
[[nodiscard]] std::string escape_html(std::string_view text);

/// A JSON text that may stand inside <script>: no "<" in it, so nothing in it ends the element.
[[nodiscard]] std::string script_safe_json(const Json& document);

/// `shell` with every {{name}} replaced by its value, once: values are not searched again. A name
/// without a value is a programmer's error (std::out_of_range).
[[nodiscard]] std::string fill_slots(std::string_view shell,
                                     const std::map<std::string, std::string, std::less<>>& values);

}  // namespace tuner::report
