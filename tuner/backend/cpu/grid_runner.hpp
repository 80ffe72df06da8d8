// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/backend/cpu/block_runner.hpp"
#include "tuner/backend/cpu/worker_pool.hpp"
#include "tuner/core/expected.hpp"
#include "tuner/core/outcome.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

namespace tuner::backend {

/// Runs grids on all cores: every core takes the next block when it has finished one. The thread
/// that made it is one of those that run blocks, so that a small grid waits for no other; any
/// thread runs a single block of one thread by a plain call.
class GridRunner {
 public:
  /// `cache_bytes` is what evicts a core's private caches.
  GridRunner(unsigned cores, std::size_t cache_bytes);

  /// Returns when the grid has ended. A launch_error when threads of a block wait for ever, or at
  /// different barriers; that ends the others after their current block.
  [[nodiscard]] Expected<void, Failure> run(const KernelCall& call);

  /// Leaves nothing of the kernels' data in the private caches of any core. The path of a launch is
  /// in the caches again on return.
  void evict_caches();

 private:
  struct Grid;
  [[nodiscard]] bool caller_runs(const Grid& grid) const;
  [[nodiscard]] Expected<void, Failure> run_on_cores(const KernelCall& given, const Grid& grid);

  std::vector<std::unique_ptr<BlockRunner>> blocks_;  // one for each worker, the last the caller's
  std::vector<std::vector<std::uint64_t>> eviction_buffers_;  // the same
  std::vector<std::uint64_t> eviction_sums_;                  // the same: so that buffers are read
  std::thread::id owner_;
  WorkerPool pool_;
};

}  // namespace tuner::backend
