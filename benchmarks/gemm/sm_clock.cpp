// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/gemm/sm_clock.hpp"

#include "tuner/backend/cuda/shared_library.hpp"
#include "tuner/core/error.hpp"

namespace tuner::gemm_benchmark {

/// The few declarations of nvml.h that are needed, which not every toolkit installs.
struct SmClock::Api {
  using Result = int;  // 0 is success
  backend::SharedLibrary library{"libnvidia-ml.so.1"};
  Result (*init)() = library.symbol("nvmlInit_v2");
  Result (*device_by_uuid)(const char*,
                           nvmlDevice_st**) = library.symbol("nvmlDeviceGetHandleByUUID");
  Result (*clock)(nvmlDevice_st*, int, unsigned*) = library.symbol("nvmlDeviceGetClockInfo");
};

SmClock::SmClock(const std::string& uuid) {
  try {
    auto api = std::make_unique<const Api>();
    if (api->init() == 0 && api->device_by_uuid(uuid.c_str(), &device_) == 0) {
      api_ = std::move(api);
    }
  } catch (const Error&) {
    // No library, or one too old: nothing will be known.
  }
}

SmClock::~SmClock() = default;

std::optional<double> SmClock::mhz() const {
  constexpr int kMultiprocessors = 1;  // NVML_CLOCK_SM
  unsigned mhz = 0;
  if (!api_ || api_->clock(device_, kMultiprocessors, &mhz) != 0) return std::nullopt;
  return mhz;
}

}  // namespace tuner::gemm_benchmark
