// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

namespace tuner {

/// What a program said and how it ended.
struct ProcessResult {
  int exit_code = 0;       ///< 128 + signal number when a signal ended it
  bool timed_out = false;  ///< it was killed at the deadline
  std::string output;      ///< stdout and stderr together, cut at 64 KiB
};

/// Runs a program without a shell and waits for it. The first argument is the program, looked up
/// on PATH. At the deadline the program's whole process group is killed. Throws Error(failure)
/// when it cannot be started.
[[nodiscard]] ProcessResult run_process(const std::vector<std::string>& arguments,
                                        std::chrono::milliseconds deadline);

}  // namespace tuner
