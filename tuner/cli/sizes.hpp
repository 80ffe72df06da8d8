// SPDX-License-Identifier: Apache-2.0
// The sizes that a command is about.
#pragma once

#include "tuner/cli/commands.hpp"
#include "tuner/family/family.hpp"

#include <optional>
#include <string>
#include <vector>

namespace tuner::cli {

/// Those of --size and --sizes, each once; without either the list of the file that is named after
/// the backend, else its list "default". Throws Error(usage).
[[nodiscard]] std::vector<Size> chosen_sizes(const Family& family, const TuneOptions& options,
                                             const std::string& backend);

/// Why a kernel is for other sizes or devices, whatever its parameters: a constraint that reads
/// none of them is broken. None when there is no such constraint.
[[nodiscard]] std::optional<std::string> unfit_for(const Kernel& kernel,
                                                   const DeviceAttributes& device,
                                                   const Size& size);

/// What to tell where a kernel's default configuration is checked at no size but the tuned one
/// although the file states others; else empty.
[[nodiscard]] std::string check_sizes_caution(const Family& family, const Kernel& kernel,
                                              const Space& space, const Size& size);

}  // namespace tuner::cli
