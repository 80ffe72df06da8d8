// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/backend/backend.hpp"
#include "tuner/backend/binary_cache.hpp"

#include <string>

namespace tuner::backend {

/// Content hash of all that an image of a device's compiler depends on besides the job: the
/// compiler and what this program adds to its options and headers, the architecture, and on a CPU
/// the very model, because kernels are compiled for the processor at hand.
[[nodiscard]] std::string compiler_identity(const space::DeviceInfo& device,
                                            const space::EnvironmentInfo& environment);

/// A compiler that looks into a cache first and keeps there what it compiles. Failures are not
/// kept: a compiler may fail for want of memory or time.
class CachedCompiler : public Compiler {
 public:
  /// `identity` as of compiler_identity. The compiler and the cache must outlive this.
  CachedCompiler(const Compiler& compiler, BinaryCache& cache, std::string identity);

  [[nodiscard]] Expected<Binary, Failure> compile(const family::CompileJob& job) const override;

 private:
  const Compiler& compiler_;
  BinaryCache& cache_;
  std::string identity_;
};

}  // namespace tuner::backend
