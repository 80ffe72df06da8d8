// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/backend/backend.hpp"
#include "tuner/worker/channel.hpp"

#include <span>
#include <string>

namespace tuner::worker {

/// The worker side of the program: `tune worker compile BACKEND ARCHITECTURE`,
/// `tune worker device BACKEND ORDINAL` and `tune worker devices BACKEND`. Serves its parent over
/// descriptor 3 until the parent is gone and returns the exit code. It ends with its parent.
[[nodiscard]] int worker_main(std::span<const std::string> arguments);

/// Compiles what arrives until the channel closes.
void serve_compilations(Channel& channel, const backend::Compiler& compiler);

}  // namespace tuner::worker
