// SPDX-License-Identifier: Apache-2.0
#include "tuner/cublas/lookup.hpp"

#include "tuner/cublas/settings.hpp"
#include "tuner/preload/dlsym.hpp"

#include <cstring>
#include <dlfcn.h>
#include <string_view>

namespace tuner::cublas {
namespace {

bool is_of_cublas(const void* function) {
  Dl_info info{};
  if (::dladdr(function, &info) == 0 || info.dli_fname == nullptr) return false;
  const std::string_view path = info.dli_fname;
  return path.substr(path.rfind('/') + 1).starts_with("libcublas");
}

}  // namespace
}  // namespace tuner::cublas

extern "C" {

__attribute__((visibility("hidden"), used)) void* tuner_preload_substitute(void* handle,
                                                                           const char* name) {
  using namespace tuner::cublas;
  if (handle == RTLD_NEXT || handle == RTLD_DEFAULT || name == nullptr ||
      std::strncmp(name, "cublas", 6) != 0) {
    return nullptr;
  }
  void* const ours = substitute_of(name);
  if (ours == nullptr || settings().mode == Mode::off) return nullptr;
  const void* const theirs = tuner::preload::system_dlsym(handle, name);
  return theirs != nullptr && is_of_cublas(theirs) ? ours : nullptr;
}
}
