// SPDX-License-Identifier: Apache-2.0
#include "tuner/preload/dlsym.hpp"

#include <atomic>
#include <dlfcn.h>

namespace tuner::preload {
namespace {

using Dlsym = void* (*)(void*, const char*);

constinit std::atomic<Dlsym> known_dlsym = nullptr;

Dlsym find_dlsym() {
  if (const Dlsym known = known_dlsym.load(std::memory_order_acquire)) return known;
  // One function under the versions of all systems: those of today, the first of x86-64 and of Arm.
  for (const char* version : {"GLIBC_2.34", "GLIBC_2.2.5", "GLIBC_2.17"}) {
    if (void* const found = ::dlvsym(RTLD_NEXT, "dlsym", version)) {
      known_dlsym.store(reinterpret_cast<Dlsym>(found), std::memory_order_release);
      break;
    }
  }
  return known_dlsym.load(std::memory_order_acquire);
}

}  // namespace

void* system_dlsym(void* handle, const char* name) {
  const Dlsym dlsym = find_dlsym();
  return dlsym == nullptr ? nullptr : dlsym(handle, name);
}

}  // namespace tuner::preload

extern "C" {

/// The system's; null where there is none.
__attribute__((visibility("hidden"), used)) void* tuner_preload_system_dlsym() {
  return reinterpret_cast<void*>(tuner::preload::find_dlsym());
}
}

// The system's dlsym() finds out by its return address who calls it, which RTLD_NEXT needs: so it
// is jumped to with the stack and the arguments of the call, as no C++ can.
#if defined(__x86_64__)
asm(R"(
        .text
        .globl dlsym
        .type dlsym, @function
dlsym:
        endbr64
        pushq %rdi
        pushq %rsi
        subq $8, %rsp
        call tuner_preload_substitute
        testq %rax, %rax
        jne 1f
        call tuner_preload_system_dlsym
        addq $8, %rsp
        popq %rsi
        popq %rdi
        testq %rax, %rax
        je 2f
        jmp *%rax
1:      addq $24, %rsp
2:      ret
        .size dlsym, .-dlsym
)");
#endif
