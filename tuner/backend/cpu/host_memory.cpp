// SPDX-License-Identifier: Apache-2.0
#include "tuner/backend/cpu/host_memory.hpp"

#include "tuner/core/error.hpp"

#include <fmt/format.h>

#include <new>

namespace tuner {
namespace {

constexpr std::align_val_t kAlignment{256};

}  // namespace

void HostMemory::Free::operator()(std::byte* memory) const {
  ::operator delete(memory, kAlignment);
}

BufferId HostMemory::allocate(std::size_t size_bytes) {
  // Asked first: the system promises memory it does not have and kills the process later.
  const bool fits = size_bytes <= limit_bytes_ - used_bytes_;
  void* memory = fits ? ::operator new(size_bytes, kAlignment, std::nothrow) : nullptr;
  if (memory == nullptr) {
    throw Error(ErrorCode::failure,
                fmt::format("cpu backend: not enough memory for a buffer of {} bytes: {} of {} "
                            "bytes are in use; take a smaller size",
                            size_bytes, used_bytes_, limit_bytes_));
  }
  const BufferId id{++last_id_};
  buffers_[id] = {.memory = std::unique_ptr<std::byte, Free>(static_cast<std::byte*>(memory)),
                  .size_bytes = size_bytes};
  used_bytes_ += size_bytes;
  return id;
}

void HostMemory::release(BufferId buffer) {
  const auto found = buffers_.find(buffer);
  if (found == buffers_.end()) return;
  used_bytes_ -= found->second.size_bytes;
  buffers_.erase(found);
}

std::byte* HostMemory::data(Region region, std::size_t size_bytes) const {
  const auto found = buffers_.find(region.buffer);
  if (found == buffers_.end()) {
    throw Error(ErrorCode::failure, fmt::format("cpu backend: no buffer {}",
                                                static_cast<std::uint64_t>(region.buffer)));
  }
  const std::size_t available = found->second.size_bytes;
  if (region.offset_bytes > available || size_bytes > available - region.offset_bytes) {
    throw Error(ErrorCode::failure,
                fmt::format("cpu backend: {} bytes asked of a buffer of {} from byte {} on",
                            size_bytes, available, region.offset_bytes));
  }
  return found->second.memory.get() + region.offset_bytes;
}

}  // namespace tuner
