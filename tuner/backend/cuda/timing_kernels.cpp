// SPDX-License-Identifier: Apache-2.0
#include "tuner/backend/cuda/timing_kernels.hpp"

#include "embedded/timing_kernels_cu.hpp"
#include "tuner/core/error.hpp"
#include "tuner/core/hash.hpp"

#include <fmt/format.h>

namespace tuner {

CompileJob timing_kernel_job(const std::string& entry) {
  const std::string_view text = embedded::timing_kernels_cu();
  return {.source = {.name = "timing_kernels.cu", .text = std::string(text), .headers = {}},
          .entry = entry,
          .options = {},
          .key = content_hash({text, entry})};
}

CudaKernel load_timing_kernel(const Compiler& compiler, const std::string& entry) {
  const auto fail = [&](const Failure& failure) {
    return Error(ErrorCode::failure, fmt::format("the GPU cannot run the timing kernel {}: {}",
                                                 entry, failure.message));
  };
  const auto binary = compiler.compile(timing_kernel_job(entry));
  if (!binary) throw fail(binary.error());
  auto kernel = CudaKernel::load(*binary);
  if (!kernel) throw fail(kernel.error());
  return std::move(*kernel);
}

}  // namespace tuner
