// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/backend/backend.hpp"

#include <chrono>
#include <memory>

namespace tuner {

/// The compiler for a device, every compilation in a process of its own: what hangs, eats memory or
/// crashes in a compiler costs its candidate. A compilation that misses the deadline is a
/// compile_timeout. Throws Error(no_device) when there is no compiler.
[[nodiscard]] std::unique_ptr<const Compiler> make_isolated_compiler(const DeviceInfo& device,
                                                                     std::chrono::seconds deadline);

}  // namespace tuner
