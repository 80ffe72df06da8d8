// SPDX-License-Identifier: Apache-2.0
#include "tuner/backend/cuda/backend_kernels.hpp"

#include "embedded/backend_kernels_cu.hpp"
#include "tuner/core/error.hpp"
#include "tuner/core/hash.hpp"

#include <fmt/format.h>

namespace tuner::backend {

family::CompileJob backend_kernel_job(const std::string& entry) {
  const std::string_view text = embedded::backend_kernels_cu();
  return {.source = {.name = "backend_kernels.cu", .text = std::string(text), .headers = {}},
          .entries = {entry},
          .options = {},
          .key = content_hash({text, entry})};
}

CudaKernel load_backend_kernel(const Compiler& compiler, const std::string& entry) {
  const auto fail = [&](const Failure& failure) {
    return Error(
        ErrorCode::failure,
        fmt::format("the GPU cannot run the backend's own kernel {}: {}", entry, failure.message));
  };
  const auto binary = compiler.compile(backend_kernel_job(entry));
  if (!binary) throw fail(binary.error());
  auto kernel = CudaKernel::load(*binary);
  if (!kernel) throw fail(kernel.error());
  return std::move(*kernel);
}

}  // namespace tuner::backend
