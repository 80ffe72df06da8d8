// SPDX-License-Identifier: Apache-2.0
#include "tuner/core/environment.hpp"

#include <cstdlib>
#include <sys/auxv.h>

namespace tuner {

bool is_privileged() {
  return ::getauxval(AT_SECURE) != 0;
}

std::string environment_variable(const char* name) {
  const char* const value = ::secure_getenv(name);
  return value == nullptr ? "" : value;
}

std::string_view injecting_variable() {
  for (const char* const name : {"LD_PRELOAD", "CUDA_INJECTION64_PATH", "NVTX_INJECTION64_PATH"}) {
    if (!environment_variable(name).empty()) return name;
  }
  return {};
}

}  // namespace tuner
