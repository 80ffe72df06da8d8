// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace tuner {

/// Whether this program has rights that its user lacks: it is set-uid or set-gid, or has file
/// capabilities (AT_SECURE, getauxval(3)). The user's environment then must not direct it.
[[nodiscard]] bool is_privileged();

/// A variable of the environment; empty when it is unset, and in a privileged program.
[[nodiscard]] std::string environment_variable(const char* name);

}  // namespace tuner
