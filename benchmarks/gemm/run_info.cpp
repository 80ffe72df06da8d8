// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/gemm/run_info.hpp"

#include "tuner/backend/cuda/device_query.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <ctime>

namespace tuner::gemm_benchmark {
namespace {

std::string cuda_version() {
  return fmt::format("{}.{}", CUDART_VERSION / 1000, CUDART_VERSION % 1000 / 10);
}

}  // namespace

RunInfo run_info(Gpu& gpu, const std::string& library) {
  const std::time_t now = std::time(nullptr);
  return {.device = gpu.device().name,
          .driver = backend::driver_identity(),
          .cuda = cuda_version(),
          .library = library,
          .date = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(now)),
          .copy_bytes_per_s = gpu.copy_bytes_per_s()};
}

}  // namespace tuner::gemm_benchmark
