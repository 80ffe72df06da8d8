// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/cli/commands.hpp"
#include "tuner/lab/sweep.hpp"

#include <vector>

namespace tuner::cli {

/// Throws Error(usage) when a kernel of --kernel does not exist, or has no side to compete on.
void check_kernels(const BenchOptions& options, const family::Family& family);

/// What competes on the processor: its library, and the family's kernels that are for the cpu
/// backend alone, at their defaults; where --kernel names such kernels, only these. All refer to
/// the family.
[[nodiscard]] std::vector<lab::SweepContender> host_contenders(const BenchOptions& options,
                                                               const family::Family& family,
                                                               const worker::DeviceWorker& host);

/// Whether the device of the sweep is the processor that --cpu times.
[[nodiscard]] bool is_timed_as_host(const BenchOptions& options,
                                    const worker::DeviceWorker& device);

/// What competes on the device: its library unless it is timed as host, the other kernels (where
/// --kernel names such, only these) at their defaults or at each --config, of which a kernel takes
/// the parameters that it has, and `tuned`, the best answer for a size that --table or the database
/// has, where there is one. All refer to the family.
[[nodiscard]] std::vector<lab::SweepContender> device_contenders(
    const CommonOptions& common, const BenchOptions& options, const family::Family& family,
    const worker::DeviceWorker& device);

}  // namespace tuner::cli
