// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/core/sandbox.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace tuner::worker {

/// What confines the workers of this process.
struct WorkerSandbox {
  std::optional<SandboxSupport> active;  ///< none: nothing confines them
  std::string lack;                      ///< a sentence: why, or what is missing; else empty
};
/// Nothing with TUNER_SANDBOX=off, nor where a library is injected, as profilers do, which write
/// reports of their own; else what this machine offers. Throws Error(usage) for another value of
/// TUNER_SANDBOX.
[[nodiscard]] WorkerSandbox worker_sandbox();

/// What a program reads to start, to compile and to load libraries: the system's folders of
/// programs and libraries, the folders that the program and the compiler of $TUNER_HOST_CXX are
/// installed in, and those that variables such as PATH and LD_LIBRARY_PATH name. No home directory,
/// and of /etc only the linker's cache.
[[nodiscard]] std::vector<std::filesystem::path> files_needed_by(const std::string& program);

/// Confines this process, which writes its own $TMPDIR too, where worker_sandbox() is active.
void confine_worker(Confinement confinement);

/// What kernels on the cpu backend may take: the memory that is free now; none where it is unknown.
[[nodiscard]] std::optional<std::uint64_t> kernel_memory_bytes();

/// From now on this process, which runs kernels, starts no other and gets no more memory, where
/// worker_sandbox() is active.
void limit_kernels();

}  // namespace tuner::worker
