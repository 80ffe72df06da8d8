// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/backend/cuda/cuda_kernel.hpp"
#include "tuner/backend/cuda/runtime.hpp"
#include "tuner/space/device.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tuner::backend {

/// A launch before a programmatic one that has not ended when that begins: a kernel that does not
/// wait for it reads wrong data, and what it writes too early is spoilt.
class UnfinishedLaunch {
 public:
  /// Throws Error(failure) when its kernel cannot be made.
  UnfinishedLaunch(const Compiler& compiler, cudaStream_t stream,
                   const space::DeviceAttributes& device);

  /// Enqueues it. Inverts the bits of these ranges of memory, lets the next launch begin, and
  /// inverts them back some time later. Each begins at a multiple of 4 bytes.
  Expected<void, Failure> enqueue(std::span<const std::span<std::byte>> memory);

 private:
  CudaKernel kernel_;
  cudaStream_t stream_;
  std::uint32_t blocks_;
};

}  // namespace tuner::backend
