// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/cli/commands.hpp"

namespace tuner::cli {

/// Whether the options of `tune bench` ask for a sweep rather than for configurations by hand.
[[nodiscard]] bool is_sweep(const BenchOptions& options);

/// `tune bench` over a range of sizes: who is the fastest on the device, on the processor, and what
/// transfers cost.
int sweep(const CommonOptions& common, const BenchOptions& options);

}  // namespace tuner::cli
