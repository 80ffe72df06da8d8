// SPDX-License-Identifier: Apache-2.0
#include "tuner/backend/cpu/grid_runner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <numeric>
#include <string>
#include <utility>

namespace tuner::backend {

GridRunner::GridRunner(unsigned cores, std::size_t cache_bytes)
    : eviction_buffers_(cores, std::vector<std::uint64_t>(cache_bytes / sizeof(std::uint64_t))),
      pool_(cores) {
  for (unsigned core = 0; core < cores; ++core) blocks_.push_back(std::make_unique<BlockRunner>());
}

namespace {

/// Which block begins i-th: i itself, or a permutation of the grid's blocks that differs from
/// launch to launch.
class BlockSequence {
 public:
  BlockSequence(const KernelCall& call, std::uint64_t count) : count_(count) {
    constexpr std::uint64_t kMost = std::uint64_t{1} << 32;  // so that products do not overflow
    if (call.blocks == BlockOrder::ascending || count >= kMost) return;
    constexpr std::uint64_t kGolden = 0x9E3779B97F4A7C15u;  // scatters the numbers of launches
    const std::uint64_t scattered = (call.launch + 1) * kGolden;
    first_ = scattered % count;
    step_ = scattered / count % count;
    while (std::gcd(step_, count) != 1) step_ = (step_ + 1) % count;
  }

  [[nodiscard]] std::uint64_t operator[](std::uint64_t i) const {
    return (i * step_ + first_) % count_;
  }

 private:
  std::uint64_t count_;
  std::uint64_t first_ = 0, step_ = 1;
};

}  // namespace

Expected<void, Failure> GridRunner::run(const KernelCall& call) {
  const auto& grid = call.geometry.grid;
  const std::uint64_t plane = std::uint64_t{grid[0]} * grid[1];
  const std::uint64_t count = plane * grid[2];
  const BlockSequence sequence(call, count);
  std::atomic<std::uint64_t> next = 0;
  std::vector<std::string> problems(blocks_.size());  // one for each worker
  pool_.run([&](unsigned worker) {
    for (std::uint64_t turn; (turn = next.fetch_add(1, std::memory_order_relaxed)) < count;) {
      const std::uint64_t i = sequence[turn];
      const Index3 block{static_cast<unsigned>(i % grid[0]),
                         static_cast<unsigned>(i % plane / grid[0]),
                         static_cast<unsigned>(i / plane)};
      const BlockEnd end = blocks_[worker]->run(call, block);
      if (end == BlockEnd::complete) continue;
      problems[worker] =
          end == BlockEnd::deadlock
              ? "deadlock: threads wait at a barrier that others never reach"
              : fmt::format("barrier divergence: threads of one block wait at the barriers of {}",
                            blocks_[worker]->divergence());
      next = count;
    }
  });
  for (std::string& problem : problems) {
    if (!problem.empty()) return Unexpected(Failure{Outcome::launch_error, std::move(problem)});
  }
  return {};
}

void GridRunner::evict_caches() {
  ++eviction_round_;
  pool_.run(
      [this](unsigned worker) { std::ranges::fill(eviction_buffers_[worker], eviction_round_); });
}

}  // namespace tuner::backend
