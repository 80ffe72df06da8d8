// SPDX-License-Identifier: Apache-2.0
// Any text as a kernel's source: what is found names a line of it.
#include "input.hpp"
#include "tuner/source/include.hpp"

#include <algorithm>

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tuner;
  const std::string_view text = fuzz::text_of(data, size);
  const auto lines = static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')) + 1;
  for (const source::Include& include : source::includes(text)) {
    fuzz::require(include.line >= 1 && include.line <= lines, "a line of the text");
    fuzz::require(!include.problem.empty() ||
                      (!include.name.starts_with('/') && include.name.find("../") != 0),
                  "no way out of the folder");
  }
  return 0;
}
