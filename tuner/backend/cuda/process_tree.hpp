// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

namespace tuner::backend {

/// Those of the processes that do not belong to this program: neither this process, nor one that
/// runs the same program above it, nor any below those. None when this process, which must be among
/// them, is not: then the numbers are of another PID namespace and name strangers.
[[nodiscard]] std::optional<std::vector<int>> foreign_processes(std::vector<int> pids);

}  // namespace tuner::backend
