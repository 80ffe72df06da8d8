// SPDX-License-Identifier: Apache-2.0
// Compilation outside of an application: each in a process of the program tuner-compile, which is
// installed beside the libraries. A compiler that hangs, eats memory or crashes costs its kernel.
#pragma once

#include "tuner/backend/backend.hpp"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace tuner::backend {

/// What a compilation may use.
struct HelperLimits {
  std::chrono::seconds deadline{60};
  std::uint64_t memory_bytes = std::uint64_t{4} << 30;  ///< of addresses; NVRTC itself takes 0.5 GB
};

/// The installed program; none where there is none, where others may change it, and in a privileged
/// program, which starts no others.
[[nodiscard]] std::optional<std::filesystem::path> compile_helper();

/// A compiler as processes of the helper make it. Such a process is started by posix_spawn(3), has
/// no file of this one open, and ends with the thread that waits for it.
class HelperCompiler : public Compiler {
 public:
  /// `arguments`: Compiler::helper_arguments().
  HelperCompiler(std::filesystem::path helper, std::vector<std::string> arguments,
                 const HelperLimits& limits);

  /// A compilation that misses the deadline is a compile_timeout. A process that cannot be started
  /// is a transient compile_error.
  [[nodiscard]] Expected<Binary, Failure> compile(const family::CompileJob& job) const override;

 private:
  std::filesystem::path helper_;
  std::vector<std::string> arguments_;
  HelperLimits limits_;
};

/// What the helper does: reads a job from the standard input, compiles it by the compiler of the
/// arguments (BACKEND ARCHITECTURE LIBRARY) and writes the answer to the standard output. Returns
/// its exit code.
[[nodiscard]] int serve_as_helper(const std::vector<std::string>& arguments);

}  // namespace tuner::backend
