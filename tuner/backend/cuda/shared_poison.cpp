// SPDX-License-Identifier: Apache-2.0
#include "tuner/backend/cuda/shared_poison.hpp"

#include "tuner/backend/cuda/backend_kernels.hpp"

namespace tuner::backend {

SharedPoison::SharedPoison(const Compiler& compiler, cudaStream_t stream,
                           const space::DeviceAttributes& device)
    : kernel_(load_backend_kernel(compiler, "poison_shared_memory")),
      stream_(stream),
      multiprocessors_(static_cast<std::uint32_t>(device.sm_count)),
      shared_bytes_(device.max_smem_per_block_optin) {}

Expected<void, Failure> SharedPoison::spread(std::uint32_t content) {
  constexpr std::uint32_t kBlocksEach = 4;
  const auto enqueue = kernel_.functions().front().launch(
      {.grid = {kBlocksEach * multiprocessors_, 1, 1},
       .block = {1024, 1, 1},
       .dynamic_shared_bytes = static_cast<std::uint32_t>(shared_bytes_)},
      {packed(shared_bytes_), packed(content)}, stream_);
  return enqueue ? (*enqueue)() : Expected<void, Failure>(Unexpected(enqueue.error()));
}

}  // namespace tuner::backend
