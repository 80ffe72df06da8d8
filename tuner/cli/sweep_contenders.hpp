// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/cli/commands.hpp"
#include "tuner/session/sweep.hpp"

#include <vector>

namespace tuner::cli {

/// What competes on the processor: its library, and the family's kernels that are for the cpu
/// backend alone, at their defaults. All refer to the family.
[[nodiscard]] std::vector<SweepContender> host_contenders(const Family& family,
                                                          const DeviceWorker& host);

/// What competes on the device: its library, the other kernels (--kernel: one of them) at their
/// defaults, and `tuned`, the best answer for a size that --table or the database has, where there
/// is one. All refer to the family.
[[nodiscard]] std::vector<SweepContender> device_contenders(const CommonOptions& common,
                                                            const BenchOptions& options,
                                                            const Family& family,
                                                            const DeviceWorker& device);

}  // namespace tuner::cli
