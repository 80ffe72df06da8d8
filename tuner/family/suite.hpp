// SPDX-License-Identifier: Apache-2.0
// A suite: named groups of sizes in a file of their own, of one family or of several.
#pragma once

#include "tuner/core/json.hpp"
#include "tuner/family/family.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace tuner::family {

struct SuiteGroup {
  std::string name;
  std::string doc;
  std::vector<space::Size> sizes;  ///< at least one
};

struct Suite {
  std::string path;
  std::vector<SuiteGroup> groups;  ///< at least one, in the order of the file

  /// The sizes of a group, of all groups when `group` is empty; each once. Throws Error(usage) with
  /// a suggestion when there is no such group.
  [[nodiscard]] std::vector<space::Size> sizes(std::string_view group) const;
};

/// Reads the groups of this family in a suite (format suite/1, docs/reference/space-file.md).
/// Throws Error(usage): place in the document, what is wrong, and a suggestion.
[[nodiscard]] Suite parse_suite(std::string_view text, std::string_view origin,
                                const Family& family);

/// The sizes that "FILE" or "FILE:GROUP" names. Throws Error(usage) as parse_suite and
/// Suite::sizes, and when the file cannot be read.
[[nodiscard]] std::vector<space::Size> suite_sizes(std::string_view file_and_group,
                                                   const Family& family);

/// The families of the groups that "FILE" or "FILE:GROUP" names, each once, in their order. Throws
/// Error(usage) as parse_suite, and where there is no such group.
[[nodiscard]] std::vector<std::string> suite_families(std::string_view file_and_group);

/// What the file holds as "recorded": the calls that `tune record` found; null where there is
/// nothing. Throws Error(usage) when the file cannot be read.
[[nodiscard]] Json suite_recording(std::string_view file_and_group);

/// The family of the groups that name none in "FILE" or "FILE:GROUP". Throws Error(usage) when the
/// file cannot be read or names none.
[[nodiscard]] std::string suite_family(std::string_view file_and_group);

}  // namespace tuner::family
