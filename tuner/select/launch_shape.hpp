// SPDX-License-Identifier: Apache-2.0
// What a space file tells of a launch's cost before it is timed.
#pragma once

#include "tuner/select/ranked_kernel.hpp"

#include <optional>
#include <string>

namespace tuner::select {

struct LaunchShape {
  double blocks = 1;
  double warps = 1;        ///< of a block
  double resident = 1;     ///< blocks that a multiprocessor holds at once
  double flops = 0;        ///< of the problem
  double block_flops = 0;  ///< of a block whose tile is full
  double bytes = 0;        ///< that the problem must move, and the kernel's scratch there and back
  bool scratch = false;    ///< whether blocks hand results to each other
  std::string variant;     ///< which code the configuration is at this size
};

/// The shape of a configuration's launch; none where an expression has no value. `registers` of a
/// thread, 0 if unknown.
///
/// Of a kernel of several launches it is the one of most threads, whose grid all flops are taken
/// to be in.
///
/// The flops of a full tile come from the largest problem that has the same grid, so that no space
/// file needs to say what a tile is.
[[nodiscard]] std::optional<LaunchShape> launch_shape(const RankedKernel& kernel,
                                                      const space::DeviceAttributes& device,
                                                      const space::BoundDefinition& at_size,
                                                      const space::Config& config, int registers);

/// The share of the busiest multiprocessor's work that an even distribution of the problem's flops
/// would not give it, below 1: tiles reach beyond the problem, and the last wave of blocks is not
/// full. A grid that the device limits, whatever the problem, counts as the blocks that a larger
/// device would run. 0 where nothing tells.
[[nodiscard]] double launch_imbalance(const RankedKernel& kernel,
                                      const space::DeviceAttributes& device,
                                      const space::BoundDefinition& at_size,
                                      const space::Config& config);

}  // namespace tuner::select
