// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <vector>

namespace tuner::family {

/// One step through an entry: text to be taken as it is, then the name of a ${NAME}.
struct EntryPiece {
  std::string_view literal;
  std::string_view name;  ///< empty: the entry ends after `literal`
};

/// Cuts an entry at its ${NAME}; empty when a $ does not begin one. The pieces refer to `entry`.
[[nodiscard]] std::vector<EntryPiece> split_entry(std::string_view entry);

}  // namespace tuner::family
