// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/backend/cuda/driver.hpp"
#include "tuner/backend/executor.hpp"

#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

namespace tuner::backend {

/// Sets memory of the current context to zero and waits for that, on a stream of its own, because
/// the default one may be waited for by the application's. Allowed during a capture.
[[nodiscard]] Expected<void, Failure> clear_memory(const DriverApi& driver, CUdeviceptr memory,
                                                   std::size_t size_bytes);

/// Device memory for graphs, each block for one graph at a time: the graph holds a user object, and
/// when it and all that was instantiated of it are destroyed the block is another graph's to have.
/// So there is as much as the graphs that live at the same time need.
class GraphMemory {
 public:
  /// The driver must outlive this.
  explicit GraphMemory(const DriverApi& driver) : driver_(driver) {}
  /// Frees all blocks: no graph that has one may run any more.
  ~GraphMemory();
  GraphMemory(const GraphMemory&) = delete;
  GraphMemory& operator=(const GraphMemory&) = delete;

  /// Zeroed memory of the current context, at a multiple of 256 bytes, for the graph that is being
  /// captured on a stream. launch_error when nothing is captured there or there is no memory.
  [[nodiscard]] Expected<void*, Failure> lend(std::size_t size_bytes, CUstream stream);

  struct Block {
    CUcontext context = nullptr;
    CUdeviceptr address = 0;
    std::size_t size_bytes = 0;
    bool lent = false;
  };
  /// Zeroed memory of the current context that no graph has: the caller's, until it is tied to one.
  /// Allowed during a capture.
  [[nodiscard]] Expected<std::shared_ptr<Block>, Failure> take(std::size_t size_bytes);
  /// Gives such memory to the graph that is being captured on a stream. launch_error when nothing
  /// is captured there. What fails leaves it nobody's: nothing may use it again.
  [[nodiscard]] Expected<void, Failure> tie(const std::shared_ptr<Block>& block, CUstream stream);

 private:
  /// Outlives this where a graph does.
  struct Blocks {
    std::mutex mutex;
    std::vector<std::shared_ptr<Block>> all;
  };
  /// What a graph holds.
  struct Loan {
    std::shared_ptr<Blocks> blocks;
    std::shared_ptr<Block> block;
  };

  static void CUDA_CB end(void* loan);
  /// Null where none of that size is free.
  [[nodiscard]] std::shared_ptr<Block> take_free(CUcontext context, std::size_t size_bytes);
  [[nodiscard]] Expected<std::shared_ptr<Block>, Failure> allocate(std::size_t size_bytes);
  void give_back(Block& block);

  const DriverApi& driver_;
  std::shared_ptr<Blocks> blocks_ = std::make_shared<Blocks>();
};

}  // namespace tuner::backend
