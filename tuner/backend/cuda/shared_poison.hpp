// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/backend/cuda/cuda_kernel.hpp"
#include "tuner/backend/cuda/runtime.hpp"
#include "tuner/space/device.hpp"

#include <cstdint>

namespace tuner::backend {

/// Fills the shared memory of every multiprocessor with copies of a word, so that a kernel that
/// reads what it has not written does not find what an earlier launch, perhaps of itself, left
/// there. A GPU promises nothing about it: this makes the mistake show, not certain to.
class SharedPoison {
 public:
  /// Throws Error(failure) when its kernel cannot be made.
  SharedPoison(const Compiler& compiler, cudaStream_t stream,
               const space::DeviceAttributes& device);

  /// Enqueues it.
  Expected<void, Failure> spread(std::uint32_t content);

 private:
  CudaKernel kernel_;
  cudaStream_t stream_;
  std::uint32_t multiprocessors_;
  std::int64_t shared_bytes_;  // of a block, at the most
};

}  // namespace tuner::backend
