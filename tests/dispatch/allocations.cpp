// SPDX-License-Identifier: Apache-2.0
// On its own, where the compiler cannot see new and delete beside what they call.
#include "tests/dispatch/allocations.hpp"

#include <atomic>
#include <cstdlib>
#include <malloc.h>
#include <new>

namespace {

thread_local int count = 0;
std::atomic<std::int64_t> live = 0;

void release(void* memory) {
  live -= static_cast<std::int64_t>(::malloc_usable_size(memory));
  std::free(memory);
}

}  // namespace

// NOLINTBEGIN(misc-new-delete-overloads,cppcoreguidelines-no-malloc)
void* operator new(std::size_t size_bytes) {
  ++count;
  if (void* const memory = std::malloc(size_bytes == 0 ? 1 : size_bytes)) {
    live += static_cast<std::int64_t>(::malloc_usable_size(memory));
    return memory;
  }
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept {
  release(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  release(memory);
}
// NOLINTEND(misc-new-delete-overloads,cppcoreguidelines-no-malloc)

int tuner::dispatch::allocations() {
  return count;
}

std::int64_t tuner::dispatch::live_bytes() {
  return live;
}
