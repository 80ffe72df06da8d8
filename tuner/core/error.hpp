// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdexcept>
#include <string>

namespace tuner {

/// Why a command cannot go on. The values are the program's exit codes
/// (docs/reference/command-line.md).
enum class ErrorCode {
  failure = 1,          ///< a run-time failure: input/output, database, device memory
  usage = 2,            ///< a wrong command line or a bad file
  no_device = 3,        ///< no usable GPU, driver, toolkit or host compiler
  no_valid_config = 4,  ///< no configuration satisfies the constraints, or none ended `ok`
  nothing_found = 5,    ///< a query found nothing
  regression = 6,       ///< compared results are slower than allowed
};

/// A set-up, input or environment error: thrown where it is found, caught once in cli/main.cpp.
/// `what()` is the whole message for the user: what, where, why and how to fix it. What happens to
/// a candidate is never an Error but a value (see Failure).
class Error : public std::runtime_error {
 public:
  Error(ErrorCode code, const std::string& message) : std::runtime_error(message), code_(code) {}
  [[nodiscard]] ErrorCode code() const noexcept { return code_; }

 private:
  ErrorCode code_;
};

}  // namespace tuner
