// SPDX-License-Identifier: Apache-2.0
#include "tests/backend/fake_nvml.hpp"

#include <algorithm>

namespace tuner::backend {
FakeNvml fake_nvml;
}

namespace {

using tuner::backend::fake_nvml;

struct Process {  // nvmlProcessInfo_t
  unsigned pid;
  unsigned long long used_memory;
  unsigned gpu_instance;
  unsigned compute_instance;
};
constexpr int kSuccess = 0, kNotSupported = 3, kNotFound = 6;
char slice, whole;  // stand for handles

}  // namespace

extern "C" {

int nvmlInit_v2() {
  return kSuccess;
}
int nvmlDeviceGetHandleByUUID(const char* uuid, void** device) {
  if (fake_nvml.uuid != uuid) return kNotFound;
  *device = fake_nvml.is_slice ? &slice : &whole;
  return kSuccess;
}
int nvmlDeviceGetCurrentClocksThrottleReasons(void* device, unsigned long long* reasons) {
  if (device != &whole) return kNotSupported;
  *reasons = fake_nvml.reasons;
  return kSuccess;
}
int nvmlDeviceGetComputeRunningProcesses_v3(void* /*device*/, unsigned* count, Process* processes) {
  if (!fake_nvml.tells_processes) return kNotSupported;
  const auto most = static_cast<std::size_t>(*count);
  const std::size_t told = std::min(most, fake_nvml.processes.size());
  for (std::size_t i = 0; i < told; ++i) processes[i] = {fake_nvml.processes[i], 0, 0, 0};
  *count = static_cast<unsigned>(told);
  return kSuccess;
}
int nvmlDeviceGetTotalEnergyConsumption(void* device, unsigned long long* millijoules) {
  if (device != &whole) return kNotSupported;
  *millijoules = fake_nvml.millijoules;
  return kSuccess;
}
int nvmlDeviceGetMaxClockInfo(void* device, int kind, unsigned* mhz) {
  constexpr int kSmClock = 1;
  if (device != &whole || kind != kSmClock || fake_nvml.max_clock_mhz == 0) return kNotSupported;
  *mhz = fake_nvml.max_clock_mhz;
  return kSuccess;
}
int nvmlDeviceGetEnforcedPowerLimit(void* device, unsigned* milliwatts) {
  if (device != &whole || fake_nvml.power_limit_mw == 0) return kNotSupported;
  *milliwatts = fake_nvml.power_limit_mw;
  return kSuccess;
}
int nvmlDeviceIsMigDeviceHandle(void* device, unsigned* is_slice) {
  *is_slice = device == &slice ? 1 : 0;
  return kSuccess;
}
int nvmlDeviceGetDeviceHandleFromMigDeviceHandle(void* /*device*/, void** gpu) {
  *gpu = &whole;
  return kSuccess;
}
}
