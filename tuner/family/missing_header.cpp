// SPDX-License-Identifier: Apache-2.0
#include "tuner/family/missing_header.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tuner::family {
namespace {

/// What stands between two texts in a line of a message; empty when they do not.
std::string_view between(std::string_view message, std::string_view before,
                         std::string_view behind) {
  while (!message.empty()) {
    std::string_view line = message.substr(0, message.find('\n'));
    message.remove_prefix(std::min(line.size() + 1, message.size()));
    for (std::size_t at = line.find(before); at != std::string_view::npos; at = line.find(before)) {
      line.remove_prefix(at + before.size());
      const std::size_t end = line.find(behind);
      if (end == std::string_view::npos) break;  // nor does it stand behind a later `before`
      if (end > 0) return line.substr(0, end);
    }
  }
  return {};
}

}  // namespace

std::string missing_header_hint(std::string_view message) {
  std::string_view name = between(message, "fatal error: ", ": No such file");
  if (name.empty()) name = between(message, "cannot open source file \"", "\"");
  if (name.empty()) name = between(message, "could not open source file \"", "\"");
  if (name.empty()) return "";
  return fmt::format(
      "\nhint: the header {} was found neither among those of the CUDA Toolkit that this backend "
      "has nor in the kernel's folder, where a kernel's own headers belong, included as \"name\"",
      name);
}

}  // namespace tuner::family
