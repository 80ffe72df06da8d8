// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace tuner {

/// What an exception of the JSON library says, for people: without its name and number, cut when
/// long. It may quote a foreign text byte by byte; half a character, or what is none, must not
/// reach a terminal.
[[nodiscard]] std::string json_reason(const std::string& what);

}  // namespace tuner
