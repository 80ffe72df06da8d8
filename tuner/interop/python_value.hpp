// SPDX-License-Identifier: Apache-2.0
// Internal to interop: the values of parameters as Python writes them, which the other tools do.
#pragma once

#include "tuner/core/json.hpp"
#include "tuner/space/definition.hpp"

#include <string>

namespace tuner::interop {

/// What Python's str() makes of a JSON value: 16, 0.5, 1.0, 1e-05, True, None; a string is itself.
/// It must not be an array or an object.
[[nodiscard]] std::string python_text(const Json& value);

/// The text of a parameter's value in the keys of a cache: that of its definition, but True and
/// False for booleans.
[[nodiscard]] std::string python_text(const space::Parameter& parameter, std::size_t index);

/// A value of a parameter as JSON: a number, a boolean or a string. Numbers among the words of a
/// parameter (0.5 is one, since expressions know whole numbers alone) are numbers again.
[[nodiscard]] Json json_value(const space::Parameter& parameter, std::size_t index);

}  // namespace tuner::interop
