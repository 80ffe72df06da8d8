// SPDX-License-Identifier: Apache-2.0
#include "tuner/backend/cuda/nvml.hpp"

#include "tuner/backend/cuda/shared_library.hpp"
#include "tuner/core/environment.hpp"
#include "tuner/core/error.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <unistd.h>

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

  /// Null in a driver that is too old for it.
  template <class Function>
  static Function* found(const SharedLibrary& library, const char* name) {
    try {
      return library.symbol(name);
    } catch (const Error&) {
      return nullptr;
    }
  }

  SharedLibrary library{"libnvidia-ml.so.1"};
  Result (*init)() = library.symbol("nvmlInit_v2");
  Result (*device_by_uuid)(const char*, Device*) = library.symbol("nvmlDeviceGetHandleByUUID");
  // The name of before driver 535, which later ones keep.
  Result (*reasons)(Device, unsigned long long*) =
      library.symbol("nvmlDeviceGetCurrentClocksThrottleReasons");
  Result (*processes)(Device, unsigned*,
                      Process*) = library.symbol("nvmlDeviceGetComputeRunningProcesses_v3");
  Result (*is_slice)(Device, unsigned*) = library.symbol("nvmlDeviceIsMigDeviceHandle");
  Result (*energy)(Device, unsigned long long*) =
      found<Result(Device, unsigned long long*)>(library, "nvmlDeviceGetTotalEnergyConsumption");
  Result (*max_clock)(Device, int, unsigned*) =
      found<Result(Device, int, unsigned*)>(library, "nvmlDeviceGetMaxClockInfo");
  Result (*power_limit)(Device, unsigned*) =
      found<Result(Device, unsigned*)>(library, "nvmlDeviceGetEnforcedPowerLimit");
  Result (*whole)(Device, Device*) = library.symbol("nvmlDeviceGetDeviceHandleFromMigDeviceHandle");
};

namespace {

/// 0 when there is none, or no such process.
int parent_of(int pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string text;
  std::getline(file, text);
  // "pid (name) state parent …", where the name may hold anything.
  const std::size_t name_end = text.rfind(')');
  if (name_end == std::string::npos) return 0;
  std::istringstream fields(text.substr(name_end + 1));
  std::string state;
  int parent = 0;
  fields >> state >> parent;
  return parent;
}

std::filesystem::path program_of(int pid) {
  std::error_code error;
  return std::filesystem::read_symlink("/proc/" + std::to_string(pid) + "/exe", error);
}

/// The topmost process above this one that runs the same program.
int root_of_this_program() {
  int root = ::getpid();
  const auto program = program_of(root);
  for (int above = parent_of(root); above > 0 && program_of(above) == program;
       above = parent_of(root)) {
    root = above;
  }
  return root;
}

bool descends_from(int pid, int root) {
  while (pid > 0 && pid != root) pid = parent_of(pid);
  return pid == root;
}

/// The process above `root` that $TUNER_PARENT declares: it started the program and waits for it.
/// 0: none.
int waiting_parent(int root) {
  int parent = 0;
  std::istringstream(environment_variable("TUNER_PARENT")) >> parent;
  return parent > 0 && descends_from(root, parent) ? parent : 0;
}

std::unique_ptr<const NvmlApi> open_nvml() {
  try {
    auto api = std::make_unique<const NvmlApi>();
    if (api->init() == 0) return api;
  } catch (const Error&) {
    // No library, or one too old: nothing will be known.
  }
  return nullptr;
}

/// None where NVML does not tell.
std::optional<std::vector<int>> processes_on(const NvmlApi& api, NvmlApi::Device device) {
  std::vector<NvmlApi::Process> processes(64);
  auto count = static_cast<unsigned>(processes.size());
  if (api.processes(device, &count, processes.data()) != 0) return std::nullopt;
  processes.resize(std::min<std::size_t>(count, processes.size()));
  std::vector<int> pids;
  for (const NvmlApi::Process& process : processes) pids.push_back(static_cast<int>(process.pid));
  return pids;
}

/// What it does not tell is absent.
ClockLimit clock_limit_of(const NvmlApi& api, NvmlApi::Device gpu) {
  constexpr int kSmClock = 1;  // NVML_CLOCK_SM
  constexpr double kMilli = 1e-3;
  unsigned mhz = 0;
  unsigned milliwatts = 0;
  ClockLimit limit;
  if (api.max_clock != nullptr && api.max_clock(gpu, kSmClock, &mhz) == 0 && mhz > 0) {
    limit.max_clock_mhz = mhz;
  }
  if (api.power_limit != nullptr && api.power_limit(gpu, &milliwatts) == 0 && milliwatts > 0) {
    limit.power_limit_w = kMilli * milliwatts;
  }
  return limit;
}

/// The GPU that a MIG slice is a part of, which has the clock; itself where it is none.
NvmlApi::Device whole_gpu(const NvmlApi& api, NvmlApi::Device device) {
  unsigned is_slice = 0;
  NvmlApi::Device whole = nullptr;
  const bool has_whole =
      api.is_slice(device, &is_slice) == 0 && is_slice != 0 && api.whole(device, &whole) == 0;
  return has_whole ? whole : device;
}

}  // namespace

std::optional<std::vector<int>> foreign_processes(std::vector<int> pids) {
  if (std::ranges::find(pids, static_cast<int>(::getpid())) == pids.end()) return std::nullopt;
  const int root = root_of_this_program();
  const int waiting = waiting_parent(root);
  std::erase_if(pids, [&](int pid) { return pid == waiting || descends_from(pid, root); });
  return pids;
}

Conditions conditions_of(unsigned long long clock_event_reasons) {
  constexpr unsigned long long kSwPowerCap = 0x4;
  constexpr unsigned long long kHwSlowdown = 0x8, kSwThermal = 0x20, kHwThermal = 0x40,
                               kHwPowerBrake = 0x80;
  constexpr unsigned long long kThrottled = kHwSlowdown | kSwThermal | kHwThermal | kHwPowerBrake;
  return {.power_capped = (clock_event_reasons & kSwPowerCap) != 0,
          .throttled = (clock_event_reasons & kThrottled) != 0};
}

Nvml::Nvml(const std::string& uuid) : api_(open_nvml()) {
  if (!api_) return;
  if (api_->device_by_uuid(uuid.c_str(), &device_) != 0) device_ = nullptr;
  if (device_ == nullptr) return;
  gpu_ = whole_gpu(*api_, device_);
  clock_limit_ = clock_limit_of(*api_, gpu_);
}

Nvml::~Nvml() = default;

Conditions Nvml::conditions() const {
  if (device_ == nullptr) return {.hides_processes = true};
  Conditions conditions;
  unsigned long long reasons = 0;
  if (api_->reasons(gpu_, &reasons) == 0) conditions = conditions_of(reasons);
  auto pids = processes_on(*api_, device_);
  auto foreign = pids ? foreign_processes(*std::move(pids)) : std::nullopt;
  conditions.hides_processes = !foreign;
  if (foreign) conditions.other_processes = *std::move(foreign);
  conditions.clock_limit = clock_limit_;
  return conditions;
}

std::optional<double> Nvml::joules() const {
  constexpr double kMilli = 1e-3;
  unsigned long long millijoules = 0;
  const bool is_whole = device_ != nullptr && device_ == gpu_;
  if (!is_whole || api_->energy == nullptr || api_->energy(gpu_, &millijoules) != 0) {
    return std::nullopt;
  }
  return kMilli * static_cast<double>(millijoules);
}

}  // namespace tuner::backend
