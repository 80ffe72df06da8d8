// SPDX-License-Identifier: Apache-2.0
// JSON that another program may have written: what is not as expected is empty.
#pragma once

#include "tuner/core/json.hpp"

#include <string>
#include <string_view>

namespace tuner::report {

/// An object; an empty one when the text is not JSON of an object.
[[nodiscard]] Json tolerant_object(std::string_view text);
/// A member of an object; null when there is none, or when it is no object.
[[nodiscard]] const Json* member(const Json& object, const std::string& key);

}  // namespace tuner::report
