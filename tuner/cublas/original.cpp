// SPDX-License-Identifier: Apache-2.0
#include "tuner/cublas/original.hpp"

#include "tuner/preload/dlsym.hpp"

#include <array>
#include <dlfcn.h>

namespace tuner::cublas {

constinit const Originals original;

void* find_original(const char* name, Of library) {
  if (void* const next = preload::system_dlsym(RTLD_NEXT, name)) return next;
  // The newest first; the functions are the same in all of them.
  constexpr std::array<const char*, 3> kCublas = {"libcublas.so.13", "libcublas.so.12",
                                                  "libcublas.so.11"};
  constexpr std::array<const char*, 3> kCublasLt = {"libcublasLt.so.13", "libcublasLt.so.12",
                                                    "libcublasLt.so.11"};
  for (const char* file : library == Of::cublas ? kCublas : kCublasLt) {
    void* const handle = ::dlopen(file, RTLD_LAZY | RTLD_NOLOAD);
    if (handle == nullptr) continue;
    // Not closed, so that what is found stays.
    if (void* const found = preload::system_dlsym(handle, name)) return found;
  }
  return nullptr;
}

}  // namespace tuner::cublas
