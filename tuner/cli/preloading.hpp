// SPDX-License-Identifier: Apache-2.0
// Programs that run with libtuner_cublas.so in front of cuBLAS.
#pragma once

#include "tuner/cli/commands.hpp"

#include <string>
#include <vector>

namespace tuner::cli {

/// Puts the library and the database into the environment of what this process starts. `mode` is as
/// in TUNER_CUBLAS. Throws Error(failure) where the library is not installed.
void set_preloading(const CommonOptions& common, const std::string& mode);

/// Becomes the program: with its exit code, its signals and its process. Throws Error(usage) where
/// it cannot be started.
[[noreturn]] void become_program(const std::vector<std::string>& words);

/// Runs the program and passes signals on to it; its exit code, or 128 + the number of the signal
/// that ended it. Throws Error(usage) where it cannot be started.
[[nodiscard]] int run_program(const std::vector<std::string>& words);

}  // namespace tuner::cli
