// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace tuner {

/// The candidate closest to `word` by edit distance with adjacent transpositions (Damerau 1964,
/// restricted form), ignoring case; none when the closest is further than a third of the word.
[[nodiscard]] std::optional<std::string> closest(std::string_view word,
                                                 std::span<const std::string> candidates);

/// The end of an error message about an unknown name: " (did you mean 'BM'?)" or, when nothing is
/// close, " (known: BM, BN)"; empty when there are no candidates.
[[nodiscard]] std::string did_you_mean(std::string_view word,
                                       std::span<const std::string> candidates);

}  // namespace tuner
