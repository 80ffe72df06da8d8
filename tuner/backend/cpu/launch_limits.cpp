// SPDX-License-Identifier: Apache-2.0
#include "tuner/backend/cpu/launch_limits.hpp"

#include "tuner/backend/cpu/block_runner.hpp"
#include "tuner/backend/launch_error.hpp"

#include <fmt/format.h>

namespace tuner::backend {
Expected<void, Failure> check_geometry(const family::Geometry& geometry) {
  const auto& [grid, block, dynamic_shared_bytes] = geometry;
  constexpr std::array<std::uint32_t, 3> kMaxGrid = {0x7fffffff, 65535, 65535};
  constexpr std::array<std::uint32_t, 3> kMaxBlock = {1024, 1024, 64};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    if (grid[axis] == 0 || grid[axis] > kMaxGrid[axis]) {
      return launch_error(fmt::format("grid {}x{}x{} is outside of 1 to {}x{}x{}", grid[0], grid[1],
                                      grid[2], kMaxGrid[0], kMaxGrid[1], kMaxGrid[2]));
    }
    if (block[axis] == 0 || block[axis] > kMaxBlock[axis]) {
      return launch_error(fmt::format("block {}x{}x{} is outside of 1 to {}x{}x{}", block[0],
                                      block[1], block[2], kMaxBlock[0], kMaxBlock[1],
                                      kMaxBlock[2]));
    }
  }
  const std::uint64_t threads = std::uint64_t{block[0]} * block[1] * block[2];
  if (threads > kMaxThreadsPerBlock) {
    return launch_error(fmt::format("block {}x{}x{} has {} threads, more than {}", block[0],
                                    block[1], block[2], threads, kMaxThreadsPerBlock));
  }
  if (dynamic_shared_bytes > kMaxDynamicSharedBytes) {
    return launch_error(fmt::format("{} bytes of dynamic shared memory, more than {}",
                                    dynamic_shared_bytes, kMaxDynamicSharedBytes));
  }
  return {};
}

}  // namespace tuner::backend
