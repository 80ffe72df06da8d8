// SPDX-License-Identifier: Apache-2.0
#include "tuner/backend/cpu/grid_runner.hpp"

#include "tuner/backend/cpu/block_turns.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <functional>
#include <numeric>
#include <optional>
#include <utility>

namespace tuner::backend {

GridRunner::GridRunner(unsigned cores, std::size_t cache_bytes)
    : eviction_buffers_(cores + 1, std::vector<std::uint64_t>(cache_bytes / sizeof(std::uint64_t))),
      eviction_sums_(cores + 1),
      owner_(std::this_thread::get_id()),
      pool_(cores) {
  for (unsigned core = 0; core <= cores; ++core) blocks_.push_back(std::make_unique<BlockRunner>());
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

constexpr std::uint64_t kMostPauses = 4;

/// Runs one block; none where it completes.
std::optional<Failure> run_block(BlockRunner& runner, const KernelCall& call, Index3 block,
                                 bool pauses = false) {
  switch (runner.run(call, block, pauses)) {
    case BlockEnd::complete:
      break;
    case BlockEnd::deadlock:
      return Failure{Outcome::launch_error,
                     "deadlock: threads wait at a barrier that others never reach"};
    case BlockEnd::divergence:
      return Failure{
          Outcome::launch_error,
          fmt::format("barrier divergence: threads of one block wait at the barriers of {}",
                      runner.divergence())};
    case BlockEnd::overrun:
      return Failure{Outcome::out_of_bounds,
                     fmt::format("it wrote beyond its {} bytes of dynamic shared memory: check "
                                 "\"dynamic_shared_bytes\" of its launch",
                                 call.geometry.dynamic_shared_bytes)};
    case BlockEnd::leak:
      return Failure{Outcome::launch_error,
                     "a block ended with tensor memory: free all of it (tcgen05.dealloc) when the "
                     "products in it are complete"};
  }
  return std::nullopt;
}

}  // namespace

/// How many blocks a launch has, and whether each has one thread.
struct GridRunner::Grid {
  explicit Grid(const family::Geometry& geometry)
      : plane(std::uint64_t{geometry.grid[0]} * geometry.grid[1]),
        blocks(plane * geometry.grid[2]),
        single_threads(geometry.block == std::array{1U, 1U, 1U}) {}

  std::uint64_t plane, blocks;
  bool single_threads;
};

Expected<void, Failure> GridRunner::run(const KernelCall& call) {
  const Grid grid(call.geometry);
  if (!grid.single_threads || grid.blocks > 1) return run_on_cores(call, grid);
  if (auto failure = run_block(*blocks_.back(), call, {})) return Unexpected(*std::move(failure));
  return {};
}

/// The caller's runner has fibers, which stay on their OS thread: on another one it can only run
/// blocks of one thread.
bool GridRunner::caller_runs(const Grid& grid) const {
  return grid.single_threads || std::this_thread::get_id() == owner_;
}

Expected<void, Failure> GridRunner::run_on_cores(const KernelCall& given, const Grid& grid) {
  KernelCall call = given;
  std::optional<BlockTurns> turns;
  if (call.interleaved && grid.blocks > 1) {
    call.turns = &turns.emplace(
        call.shared_by_blocks,
        BlockTurns::Plan{.blocks = grid.blocks,
                         .workers = caller_runs(grid) ? pool_.size() + 1 : pool_.size(),
                         .number = *call.interleaved});
  }
  const unsigned width = call.geometry.grid[0];
  const BlockSequence sequence(call, grid.blocks);
  std::atomic<std::uint64_t> next = 0;
  std::vector<std::optional<Failure>> failures(blocks_.size());  // one for each worker
  const std::function<void(unsigned)> job = [&](unsigned worker) {
    for (std::uint64_t turn = 0;
         (turn = next.fetch_add(1, std::memory_order_relaxed)) < grid.blocks;) {
      const std::uint64_t i = sequence[turn];
      const Index3 block{static_cast<unsigned>(i % width),
                         static_cast<unsigned>(i % grid.plane / width),
                         static_cast<unsigned>(i / grid.plane)};
      // Every second one, the first few times: others overtake it, and the launch is little longer.
      const bool pauses =
          call.blocks_pause && turn % 2 == call.launch % 2 && turn < 2 * kMostPauses;
      if (auto failure = run_block(*blocks_[worker], call, block, pauses)) {
        failures[worker] = std::move(failure);
        next = grid.blocks;
        if (turns) turns->stop();
      }
    }
  };
  const auto cores = static_cast<unsigned>(
      std::min<std::uint64_t>(call.on_one_core ? 1 : grid.blocks, pool_.size()));
  if (turns && caller_runs(grid)) {
    pool_.run_everywhere(job);  // two blocks at least, also on one core
  } else if (turns) {
    pool_.run(pool_.size(), job);
  } else if (caller_runs(grid)) {
    pool_.share(cores - 1, job);
  } else {
    pool_.run(cores, job);
  }
  for (std::optional<Failure>& it : failures) {
    if (it) return Unexpected(*std::move(it));
  }
  return {};
}

void GridRunner::evict_caches() {
  // Read, not written: what follows would pay for writing back.
  constexpr std::size_t kLine = 64 / sizeof(std::uint64_t);  // as long as any processor's, or less
  pool_.run_everywhere([this](unsigned worker) {
    const std::vector<std::uint64_t>& buffer = eviction_buffers_[worker];
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < buffer.size(); i += kLine) sum += buffer[i];
    eviction_sums_[worker] += sum;
  });
  KernelCall nothing;
  nothing.entry = [](KernelContext&, void* const*) {};
  for (const unsigned blocks : {pool_.size(), 1U}) {
    nothing.geometry = {.grid = {blocks, 1, 1}, .block = {1, 1, 1}};
    static_cast<void>(run(nothing));
  }
}

}  // namespace tuner::backend
