// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace tuner::backend {

/// What g++ said about a unit of host_unit, without what only follows from an error of the kernel
/// in the code that exports it, and without naming that code. A log that has no other error is left
/// as it is.
[[nodiscard]] std::string without_export(std::string_view log);

}  // namespace tuner::backend
