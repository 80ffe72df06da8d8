// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/core/sandbox.hpp"

#include <filesystem>
#include <optional>

namespace tuner::worker {

/// What this machine offers to confine workers; none where the user has TUNER_SANDBOX=off. Throws
/// Error(usage) for another value of that variable.
[[nodiscard]] std::optional<SandboxSupport> worker_sandbox();

/// Confines this process: it writes files in its own $TMPDIR and in `cache`, which may be empty,
/// and nowhere else. Does nothing with TUNER_SANDBOX=off, nor where a library was injected, as
/// profilers do, which write reports of their own.
void confine_worker(const std::filesystem::path& cache, OutsideAccess outside);

}  // namespace tuner::worker
