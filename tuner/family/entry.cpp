// SPDX-License-Identifier: Apache-2.0
#include "tuner/family/entry.hpp"

namespace tuner::family {

std::vector<EntryPiece> split_entry(std::string_view entry) {
  std::vector<EntryPiece> pieces;
  for (;;) {
    const std::size_t dollar = entry.find('$');
    if (dollar == std::string_view::npos) break;
    const std::size_t end = entry.find('}', dollar);
    const bool opens = entry.substr(dollar).starts_with("${");
    if (!opens || end == std::string_view::npos || end == dollar + 2) return {};
    pieces.push_back({entry.substr(0, dollar), entry.substr(dollar + 2, end - dollar - 2)});
    entry.remove_prefix(end + 1);
  }
  pieces.push_back({entry, {}});
  return pieces;
}

}  // namespace tuner::family
