// SPDX-License-Identifier: Apache-2.0
#include "tuner/backend/cuda/graph_memory.hpp"

#include "tuner/backend/launch_error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace tuner::backend {
namespace {

constexpr std::size_t kSmallestBlockBytes = 4096;

}  // namespace

Expected<void, Failure> clear_memory(const DriverApi& driver, CUdeviceptr memory,
                                     std::size_t size_bytes) {
  CUstream stream = nullptr;
  auto done = attempt(driver, driver.create_stream(&stream, CU_STREAM_NON_BLOCKING));
  if (!done) return done;
  done = attempt(driver, driver.memset(memory, 0, size_bytes, stream));
  if (done) done = attempt(driver, driver.synchronize(stream));
  driver.destroy_stream(stream);
  return done;
}

GraphMemory::~GraphMemory() {
  const CaptureBystander bystander(driver_);
  std::vector<std::shared_ptr<Block>> all;
  {
    const std::scoped_lock lock(blocks_->mutex);
    all.swap(blocks_->all);
  }
  for (const auto& block : all) driver_.free(block->address);
}

/// Runs on a thread of the driver's, which must not call it.
void GraphMemory::end(void* loan) {
  const std::unique_ptr<Loan> ended(static_cast<Loan*>(loan));
  const std::scoped_lock lock(ended->blocks->mutex);
  ended->block->lent = false;
}

void GraphMemory::give_back(Block& block) {
  const std::scoped_lock lock(blocks_->mutex);
  block.lent = false;
}

std::shared_ptr<GraphMemory::Block> GraphMemory::take_free(CUcontext context,
                                                           std::size_t size_bytes) {
  const std::scoped_lock lock(blocks_->mutex);
  const auto found = std::ranges::find_if(blocks_->all, [&](const auto& block) {
    return !block->lent && block->context == context && block->size_bytes == size_bytes;
  });
  if (found == blocks_->all.end()) return nullptr;
  (*found)->lent = true;
  return *found;
}

/// The driver is never called with the lock, which a thread of its own may wait for.
Expected<std::shared_ptr<GraphMemory::Block>, Failure> GraphMemory::allocate(
    std::size_t size_bytes) {
  CUcontext context = nullptr;
  driver_.current_context(&context);
  if (auto block = take_free(context, size_bytes)) return block;
  CUdeviceptr address = 0;
  if (auto done = attempt(driver_, driver_.allocate(&address, size_bytes)); !done) {
    return launch_error(fmt::format("{} bytes of memory: {}", size_bytes, done.error().message));
  }
  auto block = std::make_shared<Block>(
      Block{.context = context, .address = address, .size_bytes = size_bytes, .lent = true});
  const std::scoped_lock lock(blocks_->mutex);
  blocks_->all.push_back(block);
  return block;
}

/// Sizes are powers of two, so that blocks of graphs that are gone fit others.
Expected<std::shared_ptr<GraphMemory::Block>, Failure> GraphMemory::take(std::size_t size_bytes) {
  // A capture forbids its thread to allocate, unless it says that it knows what it does.
  const CaptureBystander bystander(driver_);
  auto block = allocate(std::bit_ceil(std::max(size_bytes, kSmallestBlockBytes)));
  if (!block) return block;
  if (auto done = clear_memory(driver_, (*block)->address, size_bytes); !done) {
    give_back(**block);
    return Unexpected(done.error());
  }
  return block;
}

/// The graph's user object owns the block, which is returned with the graph.
Expected<void, Failure> GraphMemory::tie(const std::shared_ptr<Block>& block, CUstream stream) {
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  CUgraph graph = nullptr;
  auto done =
      attempt(driver_, driver_.capture_info(stream, &status, nullptr, &graph, nullptr, nullptr));
  if (!done) return done;
  if (status != CU_STREAM_CAPTURE_STATUS_ACTIVE) {
    return launch_error("the stream is not being captured");
  }
  auto loan = std::make_unique<Loan>(Loan{blocks_, block});
  CUuserObject object = nullptr;
  done = attempt(driver_, driver_.create_user_object(&object, loan.get(), &GraphMemory::end, 1,
                                                     CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
  if (!done) return done;
  static_cast<void>(loan.release());  // the object's
  // Where that fails, the object stays: releasing it would make the block another graph's.
  return attempt(driver_, driver_.retain_user_object(graph, object, 1, CU_GRAPH_USER_OBJECT_MOVE));
}

Expected<void*, Failure> GraphMemory::lend(std::size_t size_bytes, CUstream stream) {
  const auto block = take(size_bytes);
  if (!block) return Unexpected(block.error());
  if (auto tied = tie(*block, stream); !tied) {
    give_back(**block);  // nothing was captured that could use it
    return Unexpected(tied.error());
  }
  return reinterpret_cast<void*>((*block)->address);
}

}  // namespace tuner::backend
