// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tuner::verify {

/// What no check saw of a condition, a loop or a label of a switch.
enum class Unseen {
  true_value,   ///< a condition was never true
  false_value,  ///< it was never false
  body,         ///< a loop's body never ran
  end,          ///< a loop never ended by its condition
  label,        ///< a label was never reached
};

/// A part of the reference's source that no check reached.
struct CoverageGap {
  std::string file;  ///< the source's name, or the path of a header from its folder
  std::uint64_t line = 0;
  std::string text;    ///< of the source: "if (x > 20)", or an operand: "x > 20"
  std::string within;  ///< the whole condition of an operand; else empty
  Unseen unseen = Unseen::true_value;
  std::string advice;  ///< "add a check size for which it is"
  bool operator==(const CoverageGap&) const = default;
};

/// Which parts of the reference kernel some checks reached.
struct Coverage {
  std::uint64_t conditions = 0;   ///< that were reached, with loops and labels
  std::vector<CoverageGap> gaps;  ///< in the order of files and lines
  std::string problem;            ///< why nothing is known; empty: it is
  bool operator==(const Coverage&) const = default;
};

/// "plain.cu:12: `if (x > 20)` was never true in any check: add a check size, …"
[[nodiscard]] std::string sentence(const CoverageGap& gap);

/// "never_true", "never_false", "never_entered", "never_ended", "never_reached".
[[nodiscard]] std::string_view name(Unseen unseen);
[[nodiscard]] std::optional<Unseen> unseen_from_name(std::string_view name);

}  // namespace tuner::verify
