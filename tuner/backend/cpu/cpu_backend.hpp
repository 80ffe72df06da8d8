// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/backend/backend.hpp"
#include "tuner/backend/executor.hpp"
#include "tuner/backend/registry.hpp"

#include <chrono>
#include <memory>
#include <string>
#include <vector>

namespace tuner::backend {

/// The processor of this machine as a device: CUDA C++ compiled by the host's compiler, blocks run
/// as fibers over all cores, OpenBLAS as the library. Samples are taken with cold private caches;
/// a cache shared by all cores keeps what the copy into it left. A kernel that faults takes the
/// process with it. Throws Error(no_device) when there is no host compiler.
[[nodiscard]] std::unique_ptr<Backend> open_cpu_backend();
/// The processor as one of several devices (cpu_devices).
[[nodiscard]] std::unique_ptr<Backend> open_cpu_backend(space::DeviceInfo device);

/// The processor for an application's own launches. Throws as open_cpu_backend.
[[nodiscard]] std::unique_ptr<Executor> open_cpu_executor();

/// The compiler of that device: each compilation is a process of its own, ended at the deadline and
/// started by `confiner` (host_compiler.hpp).
/// Throws Error(no_device) when there is none.
[[nodiscard]] std::unique_ptr<const Compiler> make_cpu_compiler(std::chrono::seconds deadline,
                                                                std::vector<std::string> confiner);

/// Bits of the widest vectors that this processor computes in: 128, 256 or 512.
[[nodiscard]] int vector_bits();
/// The rate of the processor's time-stamp counter, measured for 20 ms; 0 where there is none.
[[nodiscard]] double timestamp_mhz();

/// What the cpu backend needs and what of it is there.
[[nodiscard]] std::vector<Finding> examine_cpu();

}  // namespace tuner::backend
