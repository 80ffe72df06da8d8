// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace tuner {

/// Content hash of an ordered list of parts: 128-bit XXH3 as 32 lower-case hexadecimal digits.
/// Each part is preceded by its length, so that {"ab","c"} and {"a","bc"} differ. Not
/// cryptographic: it tells versions apart, it does not guard against forgery.
[[nodiscard]] std::string content_hash(std::span<const std::string_view> parts);
[[nodiscard]] std::string content_hash(std::initializer_list<std::string_view> parts);

}  // namespace tuner
