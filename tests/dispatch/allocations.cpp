// SPDX-License-Identifier: Apache-2.0
// On its own, where the compiler cannot see new and delete beside what they call.
#include "tests/dispatch/allocations.hpp"

#include <cstdlib>
#include <new>

namespace {

thread_local int count = 0;

}  // namespace

// NOLINTBEGIN(misc-new-delete-overloads,cppcoreguidelines-no-malloc)
void* operator new(std::size_t size_bytes) {
  ++count;
  if (void* const memory = std::malloc(size_bytes == 0 ? 1 : size_bytes)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}
// NOLINTEND(misc-new-delete-overloads,cppcoreguidelines-no-malloc)

int tuner::allocations() {
  return count;
}
