// SPDX-License-Identifier: Apache-2.0
#include "tuner/backend/cuda/shared_poison.hpp"

#include "tuner/backend/cuda/backend_kernels.hpp"
#include "tuner/core/error.hpp"

namespace tuner {

SharedPoison::SharedPoison(const Compiler& compiler, cudaStream_t stream,
                           const DeviceAttributes& device)
    : kernel_(load_backend_kernel(compiler, "poison_shared_memory")) {
  constexpr std::uint32_t kBlocksEach = 4;
  const auto multiprocessors = static_cast<std::uint32_t>(device.sm_count);
  auto spread = kernel_.launch(
      {.grid = {kBlocksEach * multiprocessors, 1, 1},
       .block = {1024, 1, 1},
       .dynamic_shared_bytes = static_cast<std::uint32_t>(device.max_smem_per_block_optin)},
      {packed(device.max_smem_per_block_optin)}, stream);
  if (!spread) {
    throw Error(ErrorCode::failure, "cannot poison shared memory: " + spread.error().message);
  }
  spread_ = std::move(*spread);
}

}  // namespace tuner
