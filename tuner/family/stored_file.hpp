// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/family/family.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace tuner::family {

/// A space file as a database or a dispatch table keeps it, read for one of its kernels.
struct StoredFile {
  Family family;  ///< of its kernels only that one, without its source and its hash
  std::vector<std::string> kernels;  ///< the names of all, in the order of the file
};

/// Reads what decides between configurations, as parse_family does; the file was checked at its
/// sizes when it was tuned, and what only a launch or a check needs may be absent: `arguments`,
/// `check`, the `launch` of the kernel. `origin` begins messages. Throws Error(failure), with the
/// remedy, when the text is no space file that has the kernel.
[[nodiscard]] StoredFile read_stored_file(std::string_view text, const std::string& origin,
                                          std::string_view kernel);

}  // namespace tuner::family
