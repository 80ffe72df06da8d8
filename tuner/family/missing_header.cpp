// SPDX-License-Identifier: Apache-2.0
#include "tuner/family/missing_header.hpp"

#include <fmt/format.h>

namespace tuner::family {
namespace {

/// What stands between two texts in a line of a message; empty when they do not.
std::string_view between(std::string_view message, std::string_view before,
                         std::string_view behind) {
  for (std::size_t at = message.find(before); at != std::string_view::npos;
       at = message.find(before, at + 1)) {
    std::string_view name = message.substr(at + before.size());
    name = name.substr(0, name.find('\n'));
    const std::size_t end = name.find(behind);
    if (end != std::string_view::npos && end > 0) return name.substr(0, end);
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
