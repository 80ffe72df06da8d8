// SPDX-License-Identifier: Apache-2.0
#include "tuner/cublas/lookup.hpp"

#include "tuner/cublas/settings.hpp"

#include <atomic>
#include <cstring>
#include <dlfcn.h>
#include <string_view>

namespace tuner::cublas {
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

bool is_of_cublas(const void* function) {
  Dl_info info{};
  if (::dladdr(function, &info) == 0 || info.dli_fname == nullptr) return false;
  const std::string_view path = info.dli_fname;
  return path.substr(path.rfind('/') + 1).starts_with("libcublas");
}

}  // namespace

void* system_dlsym(void* handle, const char* name) {
  const Dlsym dlsym = find_dlsym();
  return dlsym == nullptr ? nullptr : dlsym(handle, name);
}

}  // namespace tuner::cublas

extern "C" {

/// What dlsym() returns in place of a function that cuBLAS has; null: what the system's returns.
__attribute__((visibility("hidden"), used)) void* tuner_cublas_substitute(void* handle,
                                                                          const char* name) {
  using namespace tuner::cublas;
  const Dlsym dlsym = find_dlsym();
  if (handle == RTLD_NEXT || handle == RTLD_DEFAULT || name == nullptr || dlsym == nullptr ||
      std::strncmp(name, "cublas", 6) != 0) {
    return nullptr;
  }
  void* const ours = substitute_of(name);
  if (ours == nullptr || settings().mode == Mode::off) return nullptr;
  const void* const theirs = dlsym(handle, name);
  return theirs != nullptr && is_of_cublas(theirs) ? ours : nullptr;
}

/// The system's, which must be known: after tuner_cublas_substitute() it is.
__attribute__((visibility("hidden"), used)) void* tuner_cublas_system_dlsym() {
  return reinterpret_cast<void*>(tuner::cublas::find_dlsym());
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
        call tuner_cublas_substitute
        testq %rax, %rax
        jne 1f
        call tuner_cublas_system_dlsym
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
