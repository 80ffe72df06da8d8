// SPDX-License-Identifier: Apache-2.0
// Programs that run with a library of ours in front of cuBLAS or of the CUDA driver.
#pragma once

#include "tuner/cli/commands.hpp"
#include "tuner/core/expected.hpp"

#include <string>
#include <vector>

namespace tuner::cli {

/// Puts a library beside this program into the environment of what this process starts. Throws
/// Error(failure) where it is not installed.
void set_preloaded(const char* name);

/// Puts libtuner_cublas.so and the database into the environment of what this process starts.
/// `mode` is as in TUNER_CUBLAS. Throws Error(failure) where the library is not installed.
void set_preloading(const CommonOptions& common, const std::string& mode);

/// Becomes the program: with its exit code, its signals and its process. Where it cannot be
/// started, says so and returns a shell's exit code: 127 for one that is not there, else 126.
[[nodiscard]] int become_program(const std::vector<std::string>& words);

/// Runs the program and passes signals on to it; its exit code, or 128 + the number of the signal
/// that ended it. Where it cannot be started: as become_program.
[[nodiscard]] Expected<int, int> run_program(const std::vector<std::string>& words);

}  // namespace tuner::cli
