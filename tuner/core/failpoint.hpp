// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace tuner {

/// Marks a moment of which a test says what is left when the process is killed there; the name is
/// `module.event`. Does nothing: an empty call, no setting of the program reaches it. The program
/// of tests/kill is linked with another definition, which ends its process at the point that its
/// environment names; kill_test.py knows every name in the sources and what a kill there may cost.
void failpoint(std::string_view name) noexcept;

}  // namespace tuner
