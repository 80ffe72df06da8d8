// SPDX-License-Identifier: Apache-2.0
// Sizes as people, files and the database write them. All of them name an optional dimension only
// where it is not its default.
#pragma once

#include "tuner/space/dimensions.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace tuner::space {

/// "4096,4096,4096", "4096x4096x4096" or "4096,4096,4096,TRANS_B=1,LDA=4100" as typed by a user: a
/// number for each dimension that has no default, then any others by name. Throws Error(usage) that
/// names the dimension, or the constraint of the problem, that the size breaks.
[[nodiscard]] Size parse_size(std::string_view text, const Dimensions& dims);

/// A size from the database; none when it is no size of these dimensions.
[[nodiscard]] std::optional<Size> stored_size(std::string_view text, const Dimensions& dims);

/// A size typed by a user as it would be stored, when the dimensions are not known: "4096x64,B=2"
/// gives "4096,64,B=2". Throws Error(usage) when it cannot be a size of anything.
[[nodiscard]] std::string normalised_size(std::string_view text);

/// [4096, 4096, 4096] or {"M": 4096, "N": 4096, "K": 4096, "TRANS_B": 1}. Throws Error(usage) that
/// begins with `where`.
[[nodiscard]] Size size_from_json(const Json& json, const Dimensions& dims, std::string_view where);
/// Throws Error(usage) that begins with `where` unless a list has a number for each dimension
/// without a default.
void check_listed(const Json& list, const Dimensions& dims, std::string_view where);
/// The list where every optional dimension is its default, else the object.
[[nodiscard]] Json size_json(const Size& size, const Dimensions& dims);

/// What a size is kept under: "4096,4096,4096,TRANS_B=1".
[[nodiscard]] std::string canonical_size(const Size& size, const Dimensions& dims);
/// A size as people read it: "4096x4096x4096,TRANS_B=1".
[[nodiscard]] std::string display(const Size& size, const Dimensions& dims);

}  // namespace tuner::space
