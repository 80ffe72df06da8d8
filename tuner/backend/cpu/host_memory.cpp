// SPDX-License-Identifier: Apache-2.0
#include "tuner/backend/cpu/host_memory.hpp"

#include "tuner/core/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <sys/mman.h>
#include <unistd.h>
#include <utility>

namespace tuner::backend {
namespace {

/// As far as an index of 32 bits reaches in floats.
constexpr std::size_t kMargin = std::size_t{8} << 30;

}  // namespace

MarginedMemory::MarginedMemory(std::size_t size_bytes) {
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  const std::size_t whole = (size_bytes + page - 1) / page * page;
  // Where address space is limited, memory without margins is better than none.
  for (const std::size_t margin : {kMargin, std::size_t{0}}) {
    void* const mapping = ::mmap(nullptr, whole + 2 * margin, PROT_READ,
                                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mapping == MAP_FAILED) continue;
    mapping_ = {static_cast<std::byte*>(mapping), whole + 2 * margin};
    data_ = mapping_.data() + margin;
    if (::mprotect(data_, whole, PROT_READ | PROT_WRITE) == 0) return;
    ::munmap(mapping_.data(), mapping_.size());
    data_ = nullptr;
  }
}

MarginedMemory::~MarginedMemory() {
  if (data_ != nullptr) ::munmap(mapping_.data(), mapping_.size());
}

MarginedMemory::MarginedMemory(MarginedMemory&& other) noexcept
    : mapping_(other.mapping_), data_(std::exchange(other.data_, nullptr)) {}

BufferId HostMemory::allocate(std::size_t size_bytes) {
  // Asked first: the system promises memory it does not have and kills the process later.
  const bool fits = size_bytes <= limit_bytes_ - used_bytes_;
  MarginedMemory memory(fits ? size_bytes : 0);
  if (!fits || memory.data() == nullptr) {
    throw Error(ErrorCode::failure,
                fmt::format("cpu backend: not enough memory for a buffer of {} bytes: {} of {} "
                            "bytes are in use; take a smaller size",
                            size_bytes, used_bytes_, limit_bytes_));
  }
  const BufferId id{++last_id_};
  buffers_.emplace(id, Buffer{.memory = std::move(memory), .size_bytes = size_bytes});
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
  return found->second.memory.data() + region.offset_bytes;
}

std::vector<std::span<std::byte>> HostMemory::all() const {
  std::vector<std::span<std::byte>> ranges;
  ranges.reserve(buffers_.size());
  for (const auto& [id, buffer] : buffers_) {
    ranges.emplace_back(buffer.memory.data(), buffer.size_bytes);
  }
  std::ranges::sort(ranges, {}, [](std::span<std::byte> range) { return range.data(); });
  return ranges;
}

}  // namespace tuner::backend
