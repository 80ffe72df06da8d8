// SPDX-License-Identifier: Apache-2.0
#include "tuner/backend/cpu/grid_runner.hpp"

#include <algorithm>
#include <atomic>

namespace tuner {

GridRunner::GridRunner(unsigned cores, std::size_t cache_bytes)
    : eviction_buffers_(cores, std::vector<std::uint64_t>(cache_bytes / sizeof(std::uint64_t))),
      pool_(cores) {
  for (unsigned core = 0; core < cores; ++core) blocks_.push_back(std::make_unique<BlockRunner>());
}

BlockEnd GridRunner::run(const KernelCall& call) {
  const auto& grid = call.geometry.grid;
  const std::uint64_t plane = std::uint64_t{grid[0]} * grid[1];
  const std::uint64_t count = plane * grid[2];
  std::atomic<std::uint64_t> next = 0;
  std::atomic<bool> deadlock = false;
  pool_.run([&](unsigned worker) {
    for (std::uint64_t i; (i = next.fetch_add(1, std::memory_order_relaxed)) < count;) {
      const Index3 block{static_cast<unsigned>(i % grid[0]),
                         static_cast<unsigned>(i % plane / grid[0]),
                         static_cast<unsigned>(i / plane)};
      if (blocks_[worker]->run(call, block) == BlockEnd::deadlock) {
        deadlock = true;
        next = count;
      }
    }
  });
  return deadlock ? BlockEnd::deadlock : BlockEnd::complete;
}

void GridRunner::evict_caches() {
  ++eviction_round_;
  pool_.run(
      [this](unsigned worker) { std::ranges::fill(eviction_buffers_[worker], eviction_round_); });
}

}  // namespace tuner
