// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/backend/backend.hpp"

#include <chrono>
#include <memory>

namespace tuner::worker {

/// The compiler for a device, every compilation in a process of its own: what hangs, eats memory or
/// crashes in a compiler costs its candidate. A compilation that misses the deadline is a
/// compile_timeout. Throws Error(no_device) when there is no compiler.
[[nodiscard]] std::unique_ptr<const backend::Compiler> make_isolated_compiler(
    const space::DeviceInfo& device, std::chrono::seconds deadline);

}  // namespace tuner::worker
