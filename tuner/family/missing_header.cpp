// SPDX-License-Identifier: Apache-2.0
#include "tuner/family/missing_header.hpp"

#include <fmt/format.h>

#include <regex>

namespace tuner::family {

std::string missing_header_hint(std::string_view message) {
  static const std::regex missing(
      R"(fatal error: ([^\s:]+): No such file|(?:cannot|could not) open source file "([^"\n]+)\")");
  std::match_results<std::string_view::const_iterator> found;
  if (!std::regex_search(message.begin(), message.end(), found, missing)) return "";
  return fmt::format(
      "\nhint: the header {} was found neither among those of the CUDA Toolkit that this backend "
      "has nor in the kernel's folder, where a kernel's own headers belong, included as \"name\"",
      found[1].matched ? found[1].str() : found[2].str());
}

}  // namespace tuner::family
