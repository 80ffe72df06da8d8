// SPDX-License-Identifier: Apache-2.0
// What `--kernel` and `--size` name where a command takes one of each.
#pragma once

#include "tuner/family/family.hpp"

#include <string>
#include <vector>

namespace tuner::cli {

/// The kernel asked for, or the only one of the family. Throws Error(usage) that lists them.
[[nodiscard]] const family::Kernel& chosen_kernel(const family::Family& family,
                                                  const std::vector<std::string>& asked);

/// Throws Error(usage), with an example where the text is empty.
[[nodiscard]] space::Size chosen_size(const family::Family& family, const std::string& text);

/// Throws Error(no_device) when the kernel does not run on the backend.
void require_backend(const family::Kernel& kernel, const std::string& backend);

}  // namespace tuner::cli
