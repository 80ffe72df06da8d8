// SPDX-License-Identifier: Apache-2.0
// The cpu backend with compiled kernels on disk: tests share what they compile, most of all the
// kernels that check results.
#pragma once

#include "tuner/backend/binary_cache.hpp"
#include "tuner/backend/cpu/cpu_backend.hpp"
#include "tuner/worker/watched_backend.hpp"

#include <memory>

namespace tuner::testing_support {

struct CachedCpuParts {
  std::unique_ptr<backend::Backend> cpu = backend::open_cpu_backend();
  backend::BinaryCache cache{TUNER_TEST_CACHE};
  backend::CachedCompiler cached{cpu->compiler(), cache,
                                 backend::compiler_identity(cpu->device(), cpu->environment())};
};

class CachedCpuBackend : private CachedCpuParts, public worker::WatchedBackend {
 public:
  CachedCpuBackend() : worker::WatchedBackend(*cpu, cached, [](const worker::DeviceStep&) {}) {}
};

inline std::unique_ptr<backend::Backend> open_cached_cpu_backend() {
  return std::make_unique<CachedCpuBackend>();
}

}  // namespace tuner::testing_support
