// SPDX-License-Identifier: Apache-2.0
#include "tuner/backend/cuda/nvml.hpp"

#include "tuner/backend/cuda/process_tree.hpp"
#include "tuner/backend/cuda/shared_library.hpp"
#include "tuner/core/error.hpp"

#include <algorithm>
#include <vector>

namespace tuner::backend {

/// The few declarations of nvml.h that are needed, which not every toolkit installs. NVML keeps its
/// binary interface: a changed structure gets a function of a new name.
struct NvmlApi {
  using Result = int;  // 0 is success
  using Device = nvmlDevice_st*;
  struct Process {  // nvmlProcessInfo_t
    unsigned pid;
    unsigned long long used_memory;
    unsigned gpu_instance;
    unsigned compute_instance;
  };

  SharedLibrary library{"libnvidia-ml.so.1"};
  Result (*init)() = library.symbol("nvmlInit_v2");
  Result (*device_by_uuid)(const char*, Device*) = library.symbol("nvmlDeviceGetHandleByUUID");
  // The name of before driver 535, which later ones keep.
  Result (*reasons)(Device, unsigned long long*) =
      library.symbol("nvmlDeviceGetCurrentClocksThrottleReasons");
  Result (*processes)(Device, unsigned*,
                      Process*) = library.symbol("nvmlDeviceGetComputeRunningProcesses_v3");
};

namespace {

std::unique_ptr<const NvmlApi> open_nvml() {
  try {
    auto api = std::make_unique<const NvmlApi>();
    if (api->init() == 0) return api;
  } catch (const Error&) {
    // No library, or one too old: nothing will be known.
  }
  return nullptr;
}

std::vector<int> processes_on(const NvmlApi& api, NvmlApi::Device device) {
  std::vector<NvmlApi::Process> processes(64);
  auto count = static_cast<unsigned>(processes.size());
  if (api.processes(device, &count, processes.data()) != 0) return {};
  processes.resize(std::min<std::size_t>(count, processes.size()));
  std::vector<int> pids;
  for (const NvmlApi::Process& process : processes) pids.push_back(static_cast<int>(process.pid));
  return pids;
}

}  // namespace

Conditions conditions_of(unsigned long long clock_event_reasons) {
  constexpr unsigned long long kSwPowerCap = 0x4;
  constexpr unsigned long long kHwSlowdown = 0x8, kSwThermal = 0x20, kHwThermal = 0x40,
                               kHwPowerBrake = 0x80;
  constexpr unsigned long long kThrottled = kHwSlowdown | kSwThermal | kHwThermal | kHwPowerBrake;
  return {.power_capped = (clock_event_reasons & kSwPowerCap) != 0,
          .throttled = (clock_event_reasons & kThrottled) != 0};
}

Nvml::Nvml(const std::string& uuid) : api_(open_nvml()) {
  if (api_ && api_->device_by_uuid(uuid.c_str(), &device_) != 0) device_ = nullptr;
}

Nvml::~Nvml() = default;

Conditions Nvml::conditions() const {
  if (device_ == nullptr) return {};
  Conditions conditions;
  unsigned long long reasons = 0;
  if (api_->reasons(device_, &reasons) == 0) conditions = conditions_of(reasons);
  conditions.other_processes = foreign_processes(processes_on(*api_, device_));
  return conditions;
}

}  // namespace tuner::backend
