// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace tuner {

/// Whether this program has rights that its user lacks: it is set-uid or set-gid, or has file
/// capabilities (AT_SECURE, getauxval(3)). The user's environment then must not direct it.
[[nodiscard]] bool is_privileged();

/// A variable of the environment; empty when it is unset, and in a privileged program.
[[nodiscard]] std::string environment_variable(const char* name);

/// The variable that injects a library into programs that are started, as of profilers: LD_PRELOAD,
/// CUDA_INJECTION64_PATH or NVTX_INJECTION64_PATH; empty where none is set.
[[nodiscard]] std::string_view injecting_variable();

}  // namespace tuner
